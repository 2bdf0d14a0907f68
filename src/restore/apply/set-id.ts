import { lstatSync } from 'node:fs';
import { parentOf, type RelPath, toFsPath } from '../../domain/rel-path.ts';

/**
 * The mode that a file gets which comes into being. Set-user-ID and set-group-ID lend the rights of its owner, who from now on is whoever restores it;
 * they come back only where nobody else can have put the file there: every directory down to it belongs to the restorer or to root, and nobody
 * else who can reach one of them may write in it.
 *
 * @param directory absolute real path of the directory that the file lies in
 */
export function modeOfNewFile(mode: number, directory: string): number {
  const without = mode & ~0o6000;
  return mode === without || isOwnPlace(directory) ? mode : without;
}

/** The absolute directory in which a path below `root` lies. */
export function placeIn(root: string, path: RelPath): string {
  const parent = parentOf(path);
  return parent === '' ? root : `${root}/${parent}`;
}

function isOwnPlace(directory: string): boolean {
  const uid = process.geteuid?.();
  let reachable = true;
  for (const place of placesDownTo(directory)) {
    const stats = lstatSync(toFsPath(place), { throwIfNoEntry: false });
    if (stats === undefined) return false;
    const { mode, uid: owner } = stats;
    if (owner !== uid && owner !== 0) return false;
    // Where the sticky bit is set, what lies in a directory above can't be taken away.
    const writable = (mode & 0o022) !== 0 && (place === directory || (mode & 0o1000) === 0);
    if (reachable && writable) return false;
    reachable &&= (mode & 0o011) !== 0;
  }
  return true;
}

function placesDownTo(directory: string): readonly string[] {
  const parts = directory.split('/').filter((part) => part !== '');
  return ['/', ...parts.map((_, at) => `/${parts.slice(0, at + 1).join('/')}`)];
}
