import type { IgnoreFile } from '../../domain/rules.ts';
import { byteString } from './byte-string.ts';
import { type IgnoreAnswer, type IgnoreList, parseIgnoreList } from './ignore-list.ts';

/** A list of patterns and the length of the path of the directory (with its slash) that they are relative to. */
interface Link {
  readonly list: IgnoreList;
  readonly cut: number;
  /** what stands before the path for a directory above the root, with its slash */
  readonly prefix: string;
}

type Group = readonly Link[];
/** Compiled ignore files, by kind. */
export type IgnoreGroups = readonly [Group, Group, Group];
const SOURCES = ['.waymarkignore', '.gitignore', 'info/exclude'] as const;

/**
 * All ignore files that apply in a directory. Within one kind the deepest file decides first, as in git; a `.waymarkignore` decides before
 * any `.gitignore`, and `info/exclude` last.
 */
export class IgnoreChain {
  readonly #groups: IgnoreGroups;

  constructor(groups: IgnoreGroups) {
    this.#groups = groups;
  }

  /** The chain inside a directory that has these ignore files. */
  enter(own: IgnoreGroups): IgnoreChain {
    const [a, b, c] = this.#groups;
    return new IgnoreChain([
      [...own[0], ...a],
      [...own[1], ...b],
      [...own[2], ...c],
    ]);
  }

  /** `path` is the whole path below the root as a byte string; its base name starts at `nameAt`. */
  ignores(path: string, nameAt: number, isDirectory: boolean): boolean {
    for (const group of this.#groups) {
      for (const { list, cut, prefix } of group) {
        const answer: IgnoreAnswer =
          prefix === ''
            ? list.answer(cut === 0 ? path : path.slice(cut), nameAt - cut, isDirectory)
            : list.answer(prefix + path, prefix.length + nameAt, isDirectory);
        if (answer !== undefined) return answer === 'ignored';
      }
    }
    return false;
  }
}

export const NO_IGNORE_FILES = new IgnoreChain([[], [], []]);

/** Compiles the ignore files of one directory. */
export function compileIgnoreFiles(files: readonly IgnoreFile[]): IgnoreGroups {
  const group = (index: 0 | 1 | 2): Group =>
    files
      .filter((file) => file.source === SOURCES[index])
      .sort(nearestFirst)
      .flatMap(linkOf);
  return [group(0), group(1), group(2)];
}

function linkOf(file: IgnoreFile): Link[] {
  const list = parseIgnoreList(file.text);
  if (list.empty) return [];
  const prefix = file.prefix ? `${byteString(file.prefix)}/` : '';
  return [{ list, cut: file.dir === '' ? 0 : byteString(file.dir).length + 1, prefix }];
}

/** Files from above the root come after those of the root, the nearer ones first. */
function nearestFirst(a: IgnoreFile, b: IgnoreFile): number {
  return (a.prefix?.length ?? 0) - (b.prefix?.length ?? 0);
}
