import type { ContentHash } from '../../domain/ids.ts';
import { decodeName, encodeName, type RelPath } from '../../domain/rel-path.ts';
import type { Observed, SkipReason, SnapshotNode } from '../../domain/snapshot.ts';
import type { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { SEGMENT_TAG, TREE_VERSION } from './node-tags.ts';
import { PathReader, PathWriter } from './path-prefix.ts';

/** Consecutive nodes of a snapshot, sorted by path; `paths[i]` belongs to `nodes[i]`. */
export interface Segment {
  readonly level: 0;
  readonly keys: readonly RelPath[];
  readonly nodes: readonly SnapshotNode[];
}

const FILE = 1;
const SYMLINK = 2;
const DIRECTORY = 3;
const OBSERVED = 4;

/** Numbers on disk; append only. */
const REASONS: readonly SkipReason[] = [
  'ignored',
  'secret',
  'pruned',
  'special',
  'other_device',
  'over_cap',
  'over_total',
  'unreadable',
  'unstable',
  'unstorable_name',
  'truncated',
  'changed',
  'conflict',
  'blocked',
];
const WHATS: readonly Observed['what'][] = ['unknown', 'file', 'directory', 'symlink', 'special'];

/** What a record of a kind, reason or state that this version does not know reads as. */
const UNKNOWN: Observed = { kind: 'observed', reason: 'unreadable', what: 'unknown', size: 0 };

const NS = 1_000_000_000n;

/** One for all segments, each of which is done before the next begins. */
const out = new ByteWriter();

export function encodeSegment(items: readonly (readonly [RelPath, SnapshotNode])[]): Buffer {
  out.reset();
  const paths = new PathWriter();
  out.byte(SEGMENT_TAG);
  out.byte(TREE_VERSION);
  out.varint(items.length);
  for (const [path, node] of items) {
    const record = out.begin();
    paths.write(out, path);
    writeNode(node);
    out.end(record);
  }
  return out.finish();
}

/**
 * Reads the body of a segment (after tag and version). Records are length-prefixed: an unknown kind reads as observed and unknown, fields that
 * follow the known ones are skipped.
 *
 * @throws WaymarkError `MANIFEST_INVALID` for bad structure or order, `UNSAFE_PATH`
 */
export function decodeSegment(from: ByteReader): Segment {
  const count = from.varint();
  const keys: RelPath[] = [];
  const nodes: SnapshotNode[] = [];
  const paths = new PathReader();
  for (let at = 0; at < count; at += 1) {
    const outer = from.enter(from.varint());
    keys.push(paths.read(from));
    nodes.push(readNode(from));
    from.leave(outer);
  }
  return { level: 0, keys, nodes };
}

function writeNode(node: SnapshotNode): void {
  switch (node.kind) {
    case 'file':
      out.byte(FILE);
      out.hash(node.hash);
      out.varint(node.size);
      out.varint(node.mode);
      writeTime(node.mtimeNs);
      break;
    case 'symlink': {
      const target = encodeName(node.target);
      out.byte(SYMLINK);
      out.varint(target.length);
      out.bytes(target);
      writeTime(node.mtimeNs);
      break;
    }
    case 'directory':
      out.byte(DIRECTORY);
      out.varint(node.mode);
      writeTime(node.mtimeNs);
      out.byte(node.listing === 'complete' ? 1 : 0);
      break;
    case 'observed':
      out.byte(OBSERVED);
      out.byte(REASONS.indexOf(node.reason));
      out.byte(WHATS.indexOf(node.what));
      out.varint(node.size);
      break;
  }
}

function readNode(from: ByteReader): SnapshotNode {
  switch (from.byte()) {
    case FILE: {
      const hash = from.hash() as ContentHash;
      const size = from.varint();
      const mode = from.varint() & 0o7777;
      return { kind: 'file', hash, size, mtimeNs: readTime(from), mode };
    }
    case SYMLINK: {
      const target = decodeName(from.bytes(from.varint()));
      return { kind: 'symlink', target, mtimeNs: readTime(from) };
    }
    case DIRECTORY: {
      const mode = from.varint() & 0o7777;
      const mtimeNs = readTime(from);
      return { kind: 'directory', mode, mtimeNs, listing: from.byte() === 1 ? 'complete' : 'partial' };
    }
    case OBSERVED: {
      const reason = REASONS[from.byte()] ?? UNKNOWN.reason;
      const what = WHATS[from.byte()] ?? UNKNOWN.what;
      return { kind: 'observed', reason, what, size: from.varint() };
    }
    default:
      return UNKNOWN;
  }
}

/** Seconds (zigzag) and nanoseconds apart: both fit a number, so no arithmetic on big integers a byte. */
function writeTime(ns: bigint): void {
  let seconds = ns / NS;
  let rest = Number(ns - seconds * NS);
  if (rest < 0) {
    seconds -= 1n;
    rest += Number(NS);
  }
  out.bigVarint(seconds < 0n ? -2n * seconds - 1n : 2n * seconds);
  out.varint(rest);
}

function readTime(from: ByteReader): bigint {
  const zigzag = from.bigVarint();
  const seconds = zigzag & 1n ? -(zigzag + 1n) / 2n : zigzag / 2n;
  return seconds * NS + BigInt(from.varint());
}
