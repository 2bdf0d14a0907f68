import type { Checkpoint } from '../../domain/checkpoint.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';

/** The time between a checkpoint and the workspace's next one (undefined: now): what changed in it counts as its session's doing. */
export interface SessionSpan {
  readonly session: SessionId;
  readonly from: Checkpoint;
  readonly to: Checkpoint | undefined;
}

const ENDS: ReadonlySet<string> = new Set(['post_step', 'safety']);

/** Spans of the workspace since a checkpoint, oldest first. After the end of a run or a restore nobody is known to write. */
export function sessionSpans(context: WorkspaceContext, since?: Checkpoint): readonly SessionSpan[] {
  const checkpoints = context.catalog.checkpoints({ dirHash: context.identity.dirHash }).toReversed();
  const start = since === undefined ? 0 : checkpoints.findIndex(({ id }) => id === since.id);
  return checkpoints
    .map((from, at) => ({ session: from.sessionId, from, to: checkpoints[at + 1] }))
    .slice(Math.max(0, start))
    .filter(({ from }) => !ENDS.has(from.type));
}
