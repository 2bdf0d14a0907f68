import { WaymarkError } from '../../domain/errors.ts';
import { ByteReader } from './byte-reader.ts';
import { decodeIndexNode, type IndexNode } from './index-codec.ts';
import { INDEX_TAG, SEGMENT_TAG, TREE_VERSION } from './node-tags.ts';
import { decodeSegment, type Segment } from './segment-codec.ts';

export type TreeNode = Segment | IndexNode;

/** Tells whether a node is a segment (level 0). */
export function isSegment(node: TreeNode): node is Segment {
  return node.level === 0;
}

/** Tells whether the bytes of a node are a segment's, without decoding them. */
export function holdsSegment(bytes: Buffer): boolean {
  return bytes[0] === SEGMENT_TAG;
}

/**
 * Decodes one node and checks all that can be checked in it: structure, safe paths, strict order.
 *
 * @throws WaymarkError `MANIFEST_INVALID`, `UNSAFE_PATH`, `FORMAT_UNSUPPORTED`
 */
export function decodeNode(bytes: Buffer): TreeNode {
  const from = new ByteReader(bytes);
  const tag = from.byte();
  const version = from.byte();
  if (tag !== SEGMENT_TAG && tag !== INDEX_TAG) {
    throw new WaymarkError('MANIFEST_INVALID', 'A node of an entry tree has an unknown tag');
  }
  if (version !== TREE_VERSION) {
    throw new WaymarkError(
      'FORMAT_UNSUPPORTED',
      `A node of an entry tree has format ${version}, known is ${TREE_VERSION}`,
    );
  }
  const node = tag === SEGMENT_TAG ? decodeSegment(from) : decodeIndexNode(from);
  if (from.remaining > 0)
    throw new WaymarkError('MANIFEST_INVALID', 'A node of an entry tree has bytes after its end');
  return node;
}
