import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { ensurePrivateDirectory } from '../../platform/durable-write.ts';
import type { FileSystem } from '../../platform/file-system.ts';

/** Makes a directory (0700) with its missing parents, each new name durable in its parent. */
export function makeDurableDirectory(fs: FileSystem, path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeDurableDirectory(fs, parent);
  ensurePrivateDirectory(fs, path);
  fs.fsyncDirectory(parent);
}
