import { WaymarkError } from '../../domain/errors.ts';
import type { ContentHash } from '../../domain/ids.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { INDEX_TAG, TREE_VERSION } from './node-tags.ts';
import { MAX_LEVEL } from './path-level.ts';
import { PathReader, PathWriter } from './path-prefix.ts';

/** An index node: its children are segments (level 1) or index nodes one level below. */
export interface IndexNode {
  readonly level: number;
  readonly keys: readonly RelPath[];
  readonly children: readonly ContentHash[];
}

/** One for all nodes, each of which is done before the next begins. */
const out = new ByteWriter();

/** @param children their hashes under their first paths, sorted */
export function encodeIndexNode(
  level: number,
  children: readonly (readonly [RelPath, ContentHash])[],
): Buffer {
  out.reset();
  const paths = new PathWriter();
  out.byte(INDEX_TAG);
  out.byte(TREE_VERSION);
  out.byte(level);
  out.varint(children.length);
  for (const [key, hash] of children) {
    const record = out.begin();
    paths.write(out, key);
    out.hash(hash);
    out.end(record);
  }
  return out.finish();
}

/** Reads the body of an index node (after tag and version). Throws as `decodeSegment` does. */
export function decodeIndexNode(from: ByteReader): IndexNode {
  const level = from.byte();
  const count = from.varint();
  if (level < 1 || level > MAX_LEVEL || count === 0) {
    throw new WaymarkError(
      'MANIFEST_INVALID',
      `An index node of an entry tree has level ${level} and ${count} children`,
    );
  }
  const keys: RelPath[] = [];
  const children: ContentHash[] = [];
  const paths = new PathReader();
  for (let at = 0; at < count; at += 1) {
    const outer = from.enter(from.varint());
    keys.push(paths.read(from));
    children.push(from.hash() as ContentHash);
    from.leave(outer);
  }
  return { level, keys, children };
}
