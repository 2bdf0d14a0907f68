import type { Checkpoint } from '../../domain/checkpoint.ts';
import { timeText } from '../time-text.ts';
import type { Block } from './block.ts';

/** The short name of a checkpoint: the shadow commit's first 8, or the ULID's last 8. Either is accepted as a name. */
export function hashOf(checkpoint: Checkpoint): string {
  return checkpoint.engine === 'git' ? checkpoint.sandboxRef.slice(0, 8) : checkpoint.id.slice(-8);
}

/** A list of checkpoints; the first four columns are those of `checkpoint-manifest.md`. */
export function checkpointTable(checkpoints: readonly Checkpoint[], withWorkspace = false): Block {
  return {
    kind: 'table',
    columns: [
      { title: 'Hash', tone: 'accent' },
      { title: 'Timestamp', tone: 'dim' },
      { title: 'Reason' },
      { title: 'Source' },
      { title: 'Session', tone: 'dim' },
      { title: 'Seq' },
      { title: 'State', tone: 'warn' },
      { title: 'Label' },
      ...(withWorkspace ? [{ title: 'Workspace' }] : []),
    ],
    rows: checkpoints.map((checkpoint) => [
      hashOf(checkpoint),
      timeText(checkpoint.createdAt),
      checkpoint.metadata.reason,
      checkpoint.metadata.source,
      checkpoint.sessionId,
      String(checkpoint.seq).padStart(4, '0'),
      stateOf(checkpoint),
      checkpoint.label ?? '',
      ...(withWorkspace ? [checkpoint.workspace.path] : []),
    ]),
  };
}

function stateOf(checkpoint: Checkpoint): string {
  const marks = [
    checkpoint.restorable ? '' : 'damaged',
    checkpoint.coverage.status === 'partial' ? 'partial' : '',
    checkpoint.pinned ? 'pinned' : '',
  ].filter((mark) => mark !== '');
  return marks.join(' ') || 'ok';
}
