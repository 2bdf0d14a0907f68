import { createHash, hash as hashOnce } from 'node:crypto';
import type { FileEntry } from '../../domain/snapshot.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import type { ContentSource } from './apply-run.ts';
import { corruptContent } from './failure.ts';

/**
 * Writes a blob to an open file and checks on the way that it is what its name says.
 *
 * @throws WaymarkError `OBJECT_CORRUPT`; the file then holds whatever came
 */
export async function pourContent(
  fs: FileSystem,
  fd: number,
  { hash, size }: FileEntry,
  content: ContentSource,
): Promise<void> {
  let first: Buffer | undefined;
  let digest: ReturnType<typeof createHash> | undefined;
  let written = 0;
  const pour = (piece: Buffer): void => {
    if (piece.length === 0) return;
    // Most files come in one piece, and hashing that at once takes a quarter of the time.
    if (first === undefined) first = piece;
    else digest = (digest ?? createHash('sha256').update(first)).update(piece);
    written += piece.length;
    fs.write(fd, piece);
  };
  const pieces = content(hash);
  if (Symbol.iterator in pieces) for (const piece of pieces) pour(piece);
  else for await (const piece of pieces) pour(piece);
  const found = digest?.digest('hex') ?? hashOnce('sha256', first ?? Buffer.alloc(0), 'hex');
  if (found !== hash || written !== size) {
    throw corruptContent(hash);
  }
}
