import { hash as digestOf } from 'node:crypto';
import type { CheckpointRecord, EngineName, SnapshotRef } from '../../src/domain/checkpoint.ts';
import type { DraftEdit, FileReading, SnapshotDraft } from '../../src/domain/draft.ts';
import type { CheckpointId, ContentHash, SessionId } from '../../src/domain/ids.ts';
import { comparePaths, type RelPath } from '../../src/domain/rel-path.ts';
import { DEFAULT_LIMITS, type FrozenRules } from '../../src/domain/rules.ts';
import type { FileEntry, SnapshotNode } from '../../src/domain/snapshot.ts';
import type { WorkspaceIdentity } from '../../src/domain/workspace.ts';

export const RULES: FrozenRules = {
  version: 1,
  limits: DEFAULT_LIMITS,
  include: [],
  exclude: [],
  ignoreFiles: [{ dir: '', source: '.gitignore', text: 'dist/\n# ä \udcff\n' }],
  trackedExceptions: [],
  forbidden: [],
  selection: [],
};

export const MTIME = 1_764_550_000_123_456_789n;

/** What a test says of a path: a file's content, any other node, or undefined for a path that goes. */
export type Spec = string | Buffer | SnapshotNode | undefined;

export const path = (text: string): RelPath => text as RelPath;

export const hashOf = (content: string | Buffer): ContentHash =>
  digestOf('sha256', content, 'hex') as ContentHash;

/** The entry that a file of this content is stored as. */
export function file(content: string | Buffer, changes: Partial<FileEntry> = {}): FileEntry {
  const bytes = Buffer.from(content);
  return { kind: 'file', hash: hashOf(bytes), size: bytes.length, mtimeNs: MTIME, mode: 0o644, ...changes };
}

export const directory = (mode = 0o755): SnapshotNode => ({
  kind: 'directory',
  mode,
  mtimeNs: MTIME,
  listing: 'complete',
});

/** A draft whose files are all pending: reading gives their content with {@link MTIME} and mode 0644. */
export function draft(
  specs: Readonly<Record<string, Spec>>,
  base?: ContentHash,
  changes: Partial<SnapshotDraft> = {},
): SnapshotDraft {
  const contents = new Map<RelPath, Buffer>();
  const edits = Object.entries(specs).map(([name, spec]): DraftEdit => {
    if (typeof spec !== 'string' && !Buffer.isBuffer(spec)) return { path: path(name), node: spec };
    const content = Buffer.from(spec);
    contents.set(path(name), content);
    return { path: path(name), node: { kind: 'pending', statedSize: content.length } };
  });
  edits.sort((a, b) => comparePaths(a.path, b.path));
  const read = (name: RelPath): FileReading => {
    const content = contents.get(name) ?? Buffer.alloc(0);
    return { ok: true, size: content.length, mtimeNs: MTIME, mode: 0o644, content };
  };
  return { base, edits, rules: RULES, truncated: false, read, ...changes };
}

/** The nodes that a draft without a base stands for. */
export function nodesOf(specs: Readonly<Record<string, Spec>>): (readonly [RelPath, SnapshotNode])[] {
  return Object.entries(specs)
    .flatMap(([name, spec]): (readonly [RelPath, SnapshotNode])[] => {
      if (spec === undefined) return [];
      return [[path(name), typeof spec === 'string' || Buffer.isBuffer(spec) ? file(spec) : spec]];
    })
    .sort(([a], [b]) => comparePaths(a, b));
}

let checkpoints = 0;

/** A record of a snapshot; each call makes a new id. */
export function recordOf(
  snapshot: SnapshotRef,
  workspace: WorkspaceIdentity,
  engine: EngineName,
  changes: Partial<CheckpointRecord> = {},
): CheckpointRecord {
  checkpoints += 1;
  return {
    id: `01JWAYMARK${checkpoints.toString().padStart(16, '0')}` as CheckpointId,
    sessionId: 'session-1' as SessionId,
    seq: 0,
    workspace,
    type: 'manual',
    createdAt: new Date(1_764_550_000_000 + checkpoints * 1000).toISOString(),
    metadata: { reason: 'manual', source: 'api' },
    label: null,
    runId: null,
    planId: null,
    decisionId: null,
    resourceId: null,
    engine,
    git: null,
    snapshot,
    coverage: { status: 'complete', stored: 1, counts: {}, skipped: [] },
    sizeBytes: 1,
    ...changes,
  };
}

/** Bytes that do not compress, the same for the same seed. */
export function noise(length: number, seed: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let state = seed * 2654435761 + 1;
  for (let at = 0; at < length; at += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[at] = state & 0xff;
  }
  return bytes;
}
