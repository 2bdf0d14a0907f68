import { WaymarkError } from '../../domain/errors.ts';
import type { Hunk, Line } from './file-patch.ts';

/**
 * Applies hunks exactly where they say: every old line must be there, byte for byte. No offset, no fuzz.
 *
 * @throws WaymarkError `VALIDATION_ERROR` naming `name`, the hunk and the first line that differs
 */
export function applyHunks(name: string, lines: readonly Line[], hunks: readonly Hunk[]): readonly Line[] {
  const result: Line[] = [];
  let at = 0;
  for (const hunk of hunks) {
    const start = hunk.oldLines.length === 0 ? hunk.oldStart : hunk.oldStart - 1;
    if (start > lines.length || start < at) throw mismatch(name, hunk, start, lines);
    const differs = hunk.oldLines.findIndex((line, offset) => lines[start + offset] !== line);
    if (differs >= 0) throw mismatch(name, hunk, start + differs, lines);
    for (; at < start; at += 1) result.push(lines[at] ?? '');
    result.push(...hunk.newLines);
    at = start + hunk.oldLines.length;
  }
  for (; at < lines.length; at += 1) result.push(lines[at] ?? '');
  const broken = result.findIndex((line, index) => index < result.length - 1 && !line.endsWith('\n'));
  if (broken >= 0) {
    throw new WaymarkError(
      'VALIDATION_ERROR',
      `The patch of "${name}" ends line ${broken + 1} without a line end`,
    );
  }
  return result;
}

function mismatch(name: string, hunk: Hunk, index: number, lines: readonly Line[]): WaymarkError {
  const elsewhere = placesOf(hunk.oldLines, lines);
  return new WaymarkError(
    'VALIDATION_ERROR',
    `The hunk at line ${hunk.patchLine} of the patch does not fit "${name}" at line ${index + 1}`,
    elsewhere.length === 1 && hunk.oldLines.length > 0
      ? { hint: `The same lines are at line ${elsewhere[0]}: correct the hunk's line numbers` }
      : {},
  );
}

function placesOf(wanted: readonly Line[], lines: readonly Line[]): readonly number[] {
  const places: number[] = [];
  for (let at = 0; at + wanted.length <= lines.length && places.length < 2; at += 1) {
    if (wanted.every((line, offset) => lines[at + offset] === line)) places.push(at + 1);
  }
  return places;
}
