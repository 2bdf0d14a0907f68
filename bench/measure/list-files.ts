import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Absolute paths of all files below a directory, sorted. */
export function listFiles(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
}
