import type { Checkpoint } from '../../src/domain/checkpoint.ts';
import type { CheckpointId, ContentHash, DirHash, SessionId } from '../../src/domain/ids.ts';
import type { WorkspaceIdentity } from '../../src/domain/workspace.ts';

/** A workspace that exists only on paper. */
export const SAMPLE_WORKSPACE: WorkspaceIdentity = {
  path: '/w/p1',
  dirHash: 'aaaaaaaaaaaaaaaa' as DirHash,
  projectHash: 'bbbbbbbbbbbbbbbb' as DirHash,
  inode: '9007199254740993',
  birthtimeNs: '1700000000123456789',
};

/** A committed record with every field set, changed by `fields`. */
export function sampleCheckpoint(
  fields: Partial<Checkpoint> & {
    readonly id: CheckpointId;
    readonly sessionId: SessionId;
    readonly seq: number;
  },
): Omit<Checkpoint, 'pinned' | 'restorable'> {
  return {
    workspace: SAMPLE_WORKSPACE,
    type: 'manual',
    createdAt: '2026-03-24T12:45:30.123Z',
    metadata: { reason: 'pre-wave-3', source: 'build' },
    label: null,
    runId: null,
    planId: null,
    decisionId: null,
    resourceId: null,
    engine: 'cas',
    git: null,
    snapshot: { root: hash('1'), rules: hash('2'), truncated: false },
    coverage: { status: 'complete', stored: 3, counts: {}, skipped: [] },
    sizeBytes: 12,
    sandboxRef: `cas:${fields.sessionId}/${fields.seq}`,
    filesystemPath: `checkpoints/${fields.sessionId}/${String(fields.seq).padStart(4, '0')}.json`,
    digest: hash('3'),
    ...fields,
  };
}

function hash(digit: string): ContentHash {
  return digit.repeat(64) as ContentHash;
}
