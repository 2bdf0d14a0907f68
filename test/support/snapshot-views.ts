import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { ContentHash } from '../../src/domain/ids.ts';
import {
  comparePaths,
  decodeName,
  isBelow,
  joinRel,
  type RelPath,
  toFsPath,
} from '../../src/domain/rel-path.ts';
import { DEFAULT_LIMITS, type FrozenRules } from '../../src/domain/rules.ts';
import type { Observed, SnapshotNode, SnapshotView } from '../../src/domain/snapshot.ts';

/** Rules that leave nothing out. */
export const NO_RULES: FrozenRules = {
  version: 1,
  limits: DEFAULT_LIMITS,
  include: [],
  exclude: [],
  ignoreFiles: [],
  trackedExceptions: [],
  forbidden: [],
  selection: [],
};

/** A snapshot in memory, from its nodes in any order. */
export function viewOf(
  nodes: Iterable<readonly [string, SnapshotNode]>,
  options: { readonly rules?: FrozenRules; readonly truncated?: boolean } = {},
): SnapshotView {
  const sorted = [...nodes].sort(([a], [b]) => comparePaths(a, b)) as [RelPath, SnapshotNode][];
  const byPath = new Map(sorted);
  return {
    root: undefined,
    rules: options.rules ?? NO_RULES,
    truncated: options.truncated ?? false,
    get: (path) => byPath.get(path),
    nodes: (dir) => sorted.values().filter(([path]) => dir === undefined || isBelow(path, dir)),
  };
}

/** Contents by hash, as a store would hold them. */
export type Blobs = Map<ContentHash, Buffer>;

export function hashOf(bytes: Uint8Array): ContentHash {
  return createHash('sha256').update(bytes).digest('hex') as ContentHash;
}

/** Streams blobs out of memory; a missing one throws. */
export function contentOf(blobs: Blobs): (hash: ContentHash) => AsyncIterable<Buffer> {
  return async function* (hash) {
    const bytes = blobs.get(hash);
    if (bytes === undefined) throw new Error(`no blob ${hash}`);
    for (let at = 0; at < bytes.length; at += 1 << 16) yield bytes.subarray(at, at + (1 << 16));
  };
}

/**
 * Reads a real directory tree into a snapshot, its contents into `blobs`. `observe` says which paths are seen and not stored.
 */
export function scanView(
  root: string,
  blobs: Blobs,
  observe: (path: RelPath) => Observed['reason'] | undefined = () => undefined,
  rules: FrozenRules = NO_RULES,
): SnapshotView {
  const nodes: [RelPath, SnapshotNode][] = [];
  const visit = (dir: RelPath | '') => {
    for (const bytes of readdirSync(toFsPath(dir === '' ? root : `${root}/${dir}`), { encoding: 'buffer' })) {
      const path = joinRel(dir, decodeName(bytes));
      const node = scanNode(`${root}/${path}`, blobs, observe(path));
      nodes.push([path, node]);
      if (node.kind === 'directory') visit(path);
    }
  };
  visit('');
  return viewOf(nodes, { rules });
}

function scanNode(absolute: string, blobs: Blobs, reason: Observed['reason'] | undefined): SnapshotNode {
  const path = toFsPath(absolute);
  const stats = lstatSync(path, { bigint: true });
  const what = stats.isFile()
    ? 'file'
    : stats.isDirectory()
      ? 'directory'
      : stats.isSymbolicLink()
        ? 'symlink'
        : 'special';
  const size = Number(stats.size);
  const mode = Number(stats.mode & 0o7777n);
  const { mtimeNs } = stats;
  if (reason !== undefined) return { kind: 'observed', reason, what, size };
  if (what === 'special') return { kind: 'observed', reason: 'special', what, size: 0 };
  if (what === 'directory') return { kind: 'directory', mode, mtimeNs, listing: 'complete' };
  if (what === 'symlink')
    return { kind: 'symlink', target: decodeName(readlinkSync(path, 'buffer')), mtimeNs };
  const bytes = readFileSync(path);
  const hash = hashOf(bytes);
  blobs.set(hash, bytes);
  return { kind: 'file', hash, size, mtimeNs, mode };
}
