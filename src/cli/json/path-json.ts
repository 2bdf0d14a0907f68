import { quotePath } from '../../domain/rel-path.ts';

/**
 * A path as a JSON string: the name itself, or C-quoted where it is not valid UTF-8 (no JSON string could hold it) or
 * would be taken for a quoted one. Either form is accepted as an argument.
 */
export function pathJson(path: string): string {
  const looksQuoted = path.length >= 2 && path.startsWith('"') && path.endsWith('"');
  return looksQuoted || !path.isWellFormed() ? quotePath(path) : path;
}
