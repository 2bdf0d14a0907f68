import { type BigIntStats, lstatSync } from 'node:fs';
import { toFsPath } from '../../domain/rel-path.ts';
import { isOurFault, outOfResources } from './list-names.ts';

const OPTIONS = { bigint: true, throwIfNoEntry: false } as const;

/** `lstat` with exact times. Undefined: nothing is there. Null: it can't be looked at. */
export function look(absolute: string): BigIntStats | undefined | null {
  try {
    return lstatSync(toFsPath(absolute), OPTIONS);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (isOurFault(code)) throw outOfResources(absolute, cause);
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : null;
  }
}

/** In place of a stat: what is there is on the root's device and has the stat that the row records. */
export const AS_RECORDED = 'as recorded';

/** A fresh look at something that is there. */
export type Seen = BigIntStats | typeof AS_RECORDED;

const TYPE_MASK = 0o170000;

/** File type bits of a mode. */
export function typeOf(mode: number): number {
  return mode & TYPE_MASK;
}

export const TYPE = { directory: 0o040000, file: 0o100000, symlink: 0o120000 } as const;

/** What a stat says is there, in the words of observed nodes. */
export function whatOf(stat: BigIntStats): 'file' | 'directory' | 'symlink' | 'special' {
  const type = typeOf(Number(stat.mode));
  if (type === TYPE.file) return 'file';
  if (type === TYPE.directory) return 'directory';
  return type === TYPE.symlink ? 'symlink' : 'special';
}
