import { closeSync, constants, openSync, readlinkSync } from 'node:fs';
import { ancestorsOf, encodeName, type RelPath, toFsPath } from '../../domain/rel-path.ts';
import { isOurFault, outOfResources } from '../walk/list-names.ts';
import { look } from '../walk/look.ts';
import { absoluteOf } from './absolute.ts';

/** `moved`: the file opened was not the one that the path names below the root. `refused`: it can't be opened, or nothing is there. */
export type Opened =
  | { readonly ok: true; readonly fd: number }
  | { readonly ok: false; readonly why: 'refused' | 'moved' };

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens a path for reading such that no component may be a link: `O_NOFOLLOW` guards the last; for the ones above, the kernel is asked where the
 * descriptor leads (`/proc/self/fd`), or each parent is looked at where there is no such file system.
 */
export function openInside(root: string, path: RelPath): Opened {
  const absolute = absoluteOf(root, path);
  let fd: number;
  try {
    fd = openSync(toFsPath(absolute), FLAGS);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (isOurFault(code)) throw outOfResources(absolute, cause);
    return { ok: false, why: 'refused' };
  }
  if (leadsTo(fd, absolute) ?? hasPlainParents(root, path)) return { ok: true, fd };
  closeSync(fd);
  return { ok: false, why: 'moved' };
}

/** Undefined: the kernel can't be asked. */
function leadsTo(fd: number, absolute: string): boolean | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`, 'buffer').equals(encodeName(absolute));
  } catch {
    return undefined;
  }
}

/** Tells whether every directory above a path, up to the root, is one and no link. */
export function hasPlainParents(root: string, path: RelPath): boolean {
  for (const ancestor of ancestorsOf(path)) {
    if (!look(absoluteOf(root, ancestor))?.isDirectory()) return false;
  }
  return true;
}
