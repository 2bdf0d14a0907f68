import { createHash, hash as digestOf } from 'node:crypto';
import { WaymarkError } from '../../domain/errors.ts';
import type { ContentHash } from '../../domain/ids.ts';
import { quotePath } from '../../domain/rel-path.ts';
import type { ContentSink } from '../settle-draft.ts';
import { blobName, type FastImport } from './fast-import.ts';
import type { ObjectMap, StoredBlob } from './object-map.ts';

/** A sink that sends contents to an import, and the blobs it sent. */
export interface ImportSink extends ContentSink {
  readonly blobs: ReadonlyMap<ContentHash, StoredBlob>;
}

/** @param importer starts the import when the first content comes */
export function importSink(map: ObjectMap, importer: () => FastImport): ImportSink {
  const blobs = new Map<ContentHash, StoredBlob>();
  const note = (blob: StoredBlob): ContentHash => {
    blobs.set(blob.hash, blob);
    return blob.hash;
  };
  return {
    blobs,
    put(content) {
      // What is stored already is sent all the same: git looks it up by its name, and an object that went missing comes back.
      const hash = note({ hash: digestOf('sha256', content, 'hex') as ContentHash, name: blobName(content) });
      const sending = importer().blob(content);
      return sending === undefined ? hash : sending.then(() => hash);
    },
    async putLarge(content, size) {
      const first = hashPieces(size, content());
      if (first.size !== size) return undefined;
      const again = createHash('sha256');
      let count = 0;
      const pieces = function* () {
        for (const piece of content()) {
          again.update(piece);
          count += piece.length;
          yield piece;
        }
      };
      await importer().blobOf(size, pieces());
      return count === size && again.digest('hex') === first.hash ? note(first) : undefined;
    },
    require(entry, path) {
      if (blobs.has(entry.hash) || map.nameOf(entry.hash) !== undefined) return;
      throw new WaymarkError(
        'OBJECT_MISSING',
        `Content ${entry.hash} of ${quotePath(path)} is missing from the shadow repository`,
      );
    },
  };
}

/** Git wants the size before the bytes, so a large file is counted and hashed in a first reading and sent in a second. */
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
