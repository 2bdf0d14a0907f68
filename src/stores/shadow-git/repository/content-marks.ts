import { hash as digestOf } from 'node:crypto';
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A mark of every pack, and of every directory of loose objects: it changes when that one does. Costs one `lstat` each. */
export function contentMarks(gitDir: string): readonly string[] {
  const objects = join(gitDir, 'objects');
  return namesIn(objects).flatMap((name) => {
    const path = join(objects, name);
    return name === 'pack' ? namesIn(path).map((pack) => markOf(join(path, pack))) : [markOf(path)];
  });
}

function markOf(path: string): string {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  const stamp = stats && `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
  return digestOf('sha256', `${path} ${stamp}`).slice(0, 16);
}

function namesIn(path: string): readonly string[] {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(path).sort() : [];
}
