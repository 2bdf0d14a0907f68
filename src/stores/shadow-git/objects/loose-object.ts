import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { durableWrite, ensurePrivateDirectory, syncDirectory } from '../../../platform/durable-write.ts';
import { blobName } from '../repository/fast-import.ts';
import type { ShadowContext } from '../repository/shadow-context.ts';

/**
 * Writes a blob as a loose object. Git itself would not: it thinks it has the blob although the packed copy is damaged, and reads the
 * loose one once it finds out.
 */
export function writeLooseBlob({ fs, gitDir }: ShadowContext, content: Buffer): void {
  const name = blobName(content);
  const path = join(gitDir, 'objects', name.slice(0, 2), name.slice(2));
  const isNew = !existsSync(dirname(path));
  ensurePrivateDirectory(fs, dirname(path));
  durableWrite(fs, path, deflateSync(Buffer.concat([Buffer.from(`blob ${content.length}\0`), content])));
  if (isNew) syncDirectory(fs, join(gitDir, 'objects'));
}
