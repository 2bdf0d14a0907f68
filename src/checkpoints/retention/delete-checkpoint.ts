import type { Checkpoint } from '../../domain/checkpoint.ts';
import { WaymarkError } from '../../domain/errors.ts';
import { journaledCheckpoints } from '../../restore/journal/journal.ts';
import type { CheckpointName, DeleteOptions } from '../api/checkpoints.ts';
import { findCheckpoint } from '../history/find-checkpoint.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { dropCheckpoints } from './drop-checkpoints.ts';

/**
 * Deletes one checkpoint's record; its content is freed by the next prune.
 *
 * @throws WaymarkError `CHECKPOINT_IN_USE` for a pinned one, one that an interrupted restore needs, or the start of an open run; without `force`
 * also for the start or end of an operation, which could not be undone any more
 */
export async function deleteCheckpoint(
  context: WorkspaceContext,
  name: CheckpointName,
  { force = false }: DeleteOptions = {},
): Promise<Checkpoint> {
  const checkpoint = findCheckpoint(context, name);
  refuseInUse(context, checkpoint, force);
  const store = context.store(checkpoint.engine, checkpoint.workspace);
  await using _hold = await store.hold('shared', 30_000);
  const dropped = await dropCheckpoints(context, [checkpoint]);
  // It came into use, or went, while this waited for the store.
  if (dropped.length === 0) refuseInUse(context, findCheckpoint(context, checkpoint.id), force);
  return checkpoint;
}

function refuseInUse(context: WorkspaceContext, checkpoint: Checkpoint, force: boolean): void {
  const use = useOf(context, checkpoint) ?? (force ? undefined : undoOf(context, checkpoint));
  if (use !== undefined)
    throw new WaymarkError('CHECKPOINT_IN_USE', `Checkpoint ${checkpoint.id} ${use.why}`, { hint: use.hint });
}

interface Use {
  readonly why: string;
  readonly hint: string;
}

function useOf(context: WorkspaceContext, { id, pinned }: Checkpoint): Use | undefined {
  if (pinned) return { why: 'is pinned', hint: `First: waymark checkpoints unpin ${id}` };
  if ([...journaledCheckpoints(context.layout)].includes(id)) {
    return {
      why: 'is needed by an interrupted restore',
      hint: 'First: waymark recover --continue | --abort',
    };
  }
  if (context.catalog.openRuns().some(({ runStart }) => runStart === id)) {
    return { why: 'is the start of a run that is going on', hint: 'Wait until the run has ended' };
  }
  return undefined;
}

/** Steps of plans do not count: their plan's policy and `plan rollback` govern them. */
function undoOf(context: WorkspaceContext, { id, workspace }: Checkpoint): Use | undefined {
  const operation = context.catalog
    .operations({ dirHash: workspace.dirHash })
    .find(({ kind, before, after }) => kind !== 'step' && (before === id || after === id));
  if (operation === undefined) return undefined;
  const end = operation.before === id ? 'before' : 'after';
  return {
    why: `holds the state ${end} ${operation.kind} ${operation.id}, which can't be undone without it`,
    hint: 'Add --force to delete it all the same',
  };
}
