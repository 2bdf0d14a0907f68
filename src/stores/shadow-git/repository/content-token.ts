import { createHash } from 'node:crypto';
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Changes when a pack comes, goes or changes, or a directory of loose objects does. Costs one `lstat` each. */
export function contentToken(gitDir: string): string {
  const objects = join(gitDir, 'objects');
  const sum = createHash('sha256');
  const note = (path: string): void => {
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (stats !== undefined)
      sum.update(`${path} ${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}\n`);
  };
  for (const name of namesIn(objects)) {
    if (name !== 'pack') note(join(objects, name));
    else for (const pack of namesIn(join(objects, name))) note(join(objects, name, pack));
  }
  return sum.digest('hex');
}

function namesIn(path: string): readonly string[] {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(path).sort() : [];
}
