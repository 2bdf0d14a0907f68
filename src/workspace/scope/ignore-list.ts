import { byteString } from './byte-string.ts';
import { type IgnorePattern, parseIgnorePattern } from './ignore-pattern.ts';

/** What a list of patterns says of a path; undefined: nothing. */
export type IgnoreAnswer = 'ignored' | 'included' | undefined;

/** The patterns of one ignore file, asked with paths (byte strings) relative to the file's directory. */
export interface IgnoreList {
  readonly empty: boolean;
  /** The last pattern that matches decides. `nameAt` is where the base name starts in `path`. */
  answer(path: string, nameAt: number, isDirectory: boolean): IgnoreAnswer;
}

/** Reads the text of an ignore file ({@link decodeName} form) as git does: comments, byte order mark, CRLF, NUL. */
export function parseIgnoreList(text: string): IgnoreList {
  return ignoreListOf(byteString(text.replace(/^\ufeff/, '')).split('\n'));
}

/** Makes a list of patterns that are already separate lines, as byte strings. */
export function ignoreListOf(lines: readonly string[]): IgnoreList {
  const patterns: IgnorePattern[] = [];
  for (const line of lines) {
    const pattern = line.startsWith('#') ? undefined : parseIgnorePattern(cleanLine(line));
    if (pattern) patterns.push(pattern);
  }
  patterns.reverse();
  return {
    empty: patterns.length === 0,
    answer(path, nameAt, isDirectory) {
      for (const pattern of patterns) {
        if (pattern.directoryOnly && !isDirectory) continue;
        if (pattern.matches(path, nameAt)) return pattern.negated ? 'included' : 'ignored';
      }
      return undefined;
    },
  };
}

function cleanLine(line: string): string {
  const withoutReturn = line.endsWith('\r') ? line.slice(0, -1) : line;
  const nul = withoutReturn.indexOf('\0');
  return trimTrailingSpaces(nul < 0 ? withoutReturn : withoutReturn.slice(0, nul));
}

/** A trailing space counts only behind a backslash. */
function trimTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ') end -= 1;
  if (end === line.length) return line;
  let backslashes = 0;
  while (end - backslashes > 0 && line[end - backslashes - 1] === '\\') backslashes += 1;
  return line.slice(0, backslashes % 2 === 1 ? end + 1 : end);
}
