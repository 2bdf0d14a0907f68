import { WaymarkError } from '../../domain/errors.ts';
import { quotePath } from '../../domain/rel-path.ts';
import type { EditFileStep, Replacement } from '../document/plan-document.ts';
import { readPlace, writePlace } from './sandbox-file.ts';
import { openPlace } from './sandbox-place.ts';
import type { Tool } from './tool.ts';

/** Replaces text that must occur exactly once, byte for byte; several edits apply in order, all or none. */
export const editFile: Tool<EditFileStep> = {
  name: 'edit_file',
  writes: true,
  async run(step, context) {
    const { fs } = context;
    using place = openPlace(context, step.path, { createParents: false });
    const { bytes, mode } = readPlace(place);
    const edited = step.edits.reduce((content, edit) => replaceOnce(content, edit, place.rel), bytes);
    writePlace(fs, place, edited, mode);
    return { output: `edited ${quotePath(place.rel)}, ${step.edits.length} replacements`, exitCode: null };
  },
};

/** @throws WaymarkError `VALIDATION_ERROR` unless `search` occurs exactly once, overlapping occurrences counted */
function replaceOnce(content: Buffer, { search, replace }: Replacement, name: string): Buffer {
  const wanted = Buffer.from(search, 'utf8');
  const first = content.indexOf(wanted);
  if (first < 0) {
    throw new WaymarkError('VALIDATION_ERROR', `The search text does not occur in ${quotePath(name)}`, {
      hint: 'It must match byte for byte, line ends and indentation included',
    });
  }
  if (content.indexOf(wanted, first + 1) >= 0) {
    throw new WaymarkError(
      'VALIDATION_ERROR',
      `The search text occurs more than once in ${quotePath(name)}`,
      {
        hint: 'Add lines around it until it is unique',
      },
    );
  }
  return Buffer.concat([
    content.subarray(0, first),
    Buffer.from(replace, 'utf8'),
    content.subarray(first + wanted.length),
  ]);
}
