import { createHash, hash as digestOf } from 'node:crypto';
import { WaymarkError } from '../../../domain/errors.ts';
import type { ContentHash } from '../../../domain/ids.ts';
import { quotePath } from '../../../domain/rel-path.ts';
import type { ContentSink } from '../../settle-draft.ts';
import type { PackSet } from './pack-set.ts';
import type { PackWriter } from './pack-writer.ts';

/** Puts contents into a pack unless the pack or the store has them. What the store has is read back first: damaged content is stored anew. */
export function packSink(
  packs: PackSet,
  writer: PackWriter,
): ContentSink & { readonly contentsWritten: number } {
  let contentsWritten = 0;
  return {
    get contentsWritten() {
      return contentsWritten;
    },
    put(content, known) {
      const hash = known ?? (digestOf('sha256', content, 'hex') as ContentHash);
      if (writer.has(hash) || packs.holds(hash, content)) return hash;
      contentsWritten += 1;
      const room = writer.add(hash, content);
      return room ? room.then(() => hash) : hash;
    },
    async putLarge(content, size) {
      const digest = createHash('sha256');
      let length = 0;
      for (const piece of content()) {
        digest.update(piece);
        length += piece.length;
      }
      if (length !== size) return undefined;
      const hash = digest.digest('hex') as ContentHash;
      if (writer.has(hash) || packs.holdsWhole(hash)) return hash;
      if (!(await writer.addLarge(hash, content()))) return undefined;
      contentsWritten += 1;
      return hash;
    },
    require(entry, path) {
      if (writer.has(entry.hash) || packs.has(entry.hash)) return;
      throw new WaymarkError(
        'OBJECT_MISSING',
        `The content of ${quotePath(path)} is not in the store (${entry.hash})`,
      );
    },
  };
}
