import type { Checkpoint } from './checkpoint.ts';

/** The part of a checkpoint that tells its age. */
export type Aged = Pick<Checkpoint, 'id' | 'sessionId' | 'seq' | 'createdAt'>;

/**
 * Sorts checkpoints oldest first. Within a session `seq` decides, whatever the clock did; between sessions the time does,
 * where a checkpoint counts as no older than its session's earlier ones.
 */
export function oldestFirst<T extends Aged>(checkpoints: readonly T[]): readonly T[] {
  const latest = new Map<string, string>();
  const aged = checkpoints
    .toSorted((a, b) => a.seq - b.seq)
    .map((checkpoint) => {
      const before = latest.get(checkpoint.sessionId);
      if (before !== undefined && before > checkpoint.createdAt) return { checkpoint, time: before };
      latest.set(checkpoint.sessionId, checkpoint.createdAt);
      return { checkpoint, time: checkpoint.createdAt };
    });
  aged.sort(
    (a, b) =>
      compare(a.time, b.time) ||
      compare(a.checkpoint.sessionId, b.checkpoint.sessionId) ||
      a.checkpoint.seq - b.checkpoint.seq,
  );
  return aged.map(({ checkpoint }) => checkpoint);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
