import { createHash, hash as digestOf } from 'node:crypto';
import type { FileReading } from '../../domain/draft.ts';
import type { ContentHash } from '../../domain/ids.ts';
import type { SnapshotNode } from '../../domain/snapshot.ts';
import { blobName, type FastImport } from './fast-import.ts';
import type { StoredBlob } from './object-map.ts';

type Content = Extract<FileReading, { readonly ok: true }>;

/** Puts a file that was read into an import. Undefined `blob`: a large one that did not hold still. */
export async function storeFile(
  reading: Content,
  importer: FastImport,
): Promise<{ readonly node: SnapshotNode; readonly blob: StoredBlob | undefined }> {
  const blob =
    reading.content instanceof Buffer
      ? await storeWhole(reading.content, importer)
      : await storePieces(reading, reading.content, importer);
  if (blob === undefined) {
    return { node: { kind: 'observed', reason: 'unstable', what: 'file', size: reading.size }, blob };
  }
  const { size, mtimeNs, mode } = reading;
  return { node: { kind: 'file', hash: blob.hash, size, mtimeNs, mode }, blob };
}

async function storeWhole(content: Buffer, importer: FastImport): Promise<StoredBlob> {
  await importer.blob(content);
  return { hash: digestOf('sha256', content, 'hex') as ContentHash, name: blobName(content) };
}

/** Git wants the size first, so the bytes are counted and hashed in a first reading and stored in a second. */
async function storePieces(
  { size }: Content,
  read: () => Iterable<Buffer>,
  importer: FastImport,
): Promise<StoredBlob | undefined> {
  const first = hashPieces(size, read());
  if (first.size !== size) return undefined;
  const again = createHash('sha256');
  let count = 0;
  const pieces = function* () {
    for (const piece of read()) {
      again.update(piece);
      count += piece.length;
      yield piece;
    }
  };
  await importer.blobOf(size, pieces());
  return count === size && again.digest('hex') === first.hash ? first : undefined;
}

function hashPieces(size: number, pieces: Iterable<Buffer>): StoredBlob & { readonly size: number } {
  const content = createHash('sha256');
  const object = createHash('sha1').update(`blob ${size}\0`);
  let count = 0;
  for (const piece of pieces) {
    content.update(piece);
    object.update(piece);
    count += piece.length;
  }
  return { hash: content.digest('hex') as ContentHash, name: object.digest('hex'), size: count };
}
