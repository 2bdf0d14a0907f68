import { isWaymarkError, type WaymarkError } from '../../domain/errors.ts';
import type { ContentHash } from '../../domain/ids.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import { isSegment } from './decode-node.ts';
import type { Segment } from './segment-codec.ts';
import { type ReadNode, type TreePlace, TreeReader } from './tree-reader.ts';

export interface TreeCheck {
  readonly readNode: ReadNode;
  /** Tells what is wrong with a content; asked again for the same hash, so it should remember. */
  readonly checkContent: (hash: ContentHash) => WaymarkError | undefined;
  /** Hears of each damage: a content's with its path, a node's with the first path below it where that is known. */
  readonly onProblem: (hash: ContentHash, path: RelPath | undefined, error: WaymarkError) => void;
  /** Nodes found whole with all below them; skipped and added to, so that trees share the work. */
  readonly whole: Set<ContentHash>;
}

/** Reads everything that a tree needs and goes on past what is damaged. Returns whether all of it is whole. */
export function verifyTree(root: ContentHash, check: TreeCheck): boolean {
  const reader = new TreeReader(root, check.readNode);
  return verifyAt(reader, reader.root, check);
}

function verifyAt(reader: TreeReader, place: TreePlace, check: TreeCheck): boolean {
  if (check.whole.has(place.hash)) return true;
  let whole = true;
  try {
    const node = reader.load(place);
    if (isSegment(node)) whole = segmentIsWhole(reader, place, node, check);
    else for (const child of reader.children(place)) whole = verifyAt(reader, child, check) && whole;
  } catch (error) {
    if (!isWaymarkError(error)) throw error;
    whole = false;
    check.onProblem(place.hash, place.key, error);
  }
  if (whole) check.whole.add(place.hash);
  return whole;
}

function segmentIsWhole(reader: TreeReader, place: TreePlace, segment: Segment, check: TreeCheck): boolean {
  let whole = true;
  for (const [at, path] of segment.keys.entries()) {
    whole = ancestorsAreSound(reader, place, path, check) && whole;
    const entry = segment.nodes[at];
    const error = entry?.kind === 'file' ? check.checkContent(entry.hash) : undefined;
    if (entry?.kind !== 'file' || !error) continue;
    whole = false;
    check.onProblem(entry.hash, path, error);
  }
  return whole;
}

/** Damage met on the way to an ancestor is not reported here: it is where the ancestor lies. */
function ancestorsAreSound(reader: TreeReader, place: TreePlace, path: RelPath, check: TreeCheck): boolean {
  try {
    reader.checkAncestors(path);
    return true;
  } catch (error) {
    if (!isWaymarkError(error)) throw error;
    if (error.code === 'MANIFEST_INVALID') check.onProblem(place.hash, path, error);
    return false;
  }
}
