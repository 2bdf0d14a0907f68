import type { KeepInput } from '../../domain/always-kept.ts';
import type { Checkpoint } from '../../domain/checkpoint.ts';
import type { CheckpointId } from '../../domain/ids.ts';
import { journaledCheckpoints } from '../../restore/journal/journal.ts';
import type { HomeContext } from '../workspace/home-context.ts';

/** What retention must leave alone at this moment, over all workspaces. */
export function keepInput(context: HomeContext): KeepInput {
  return {
    operations: context.catalog.operations(),
    openRunStarts: openRunStarts(context),
    journal: new Set<CheckpointId>(journaledCheckpoints(context.layout)),
  };
}

/** What a run that is going on, or a restore that stopped half way, can't do without. */
export function inUse(context: HomeContext): ReadonlySet<CheckpointId> {
  return openRunStarts(context).union(new Set(journaledCheckpoints(context.layout)));
}

/** How long a safety checkpoint may wait for its operation to be recorded, ms. */
const RECORDED_WITHIN_MS = 60 * 60 * 1000;

/** Tells whether a checkpoint was just taken for something that is still to be recorded: the end of a run that is going on, or a restore's way back. */
export function isAwaited(
  { catalog, clock }: HomeContext,
  { id, type, runId, createdAt }: Checkpoint,
): boolean {
  if (isEnd(type)) {
    if (runId === null || !catalog.openRuns().some((run) => run.id === runId)) return false;
    return catalog.checkpoints({ runId }).find((other) => isEnd(other.type))?.id === id;
  }
  if (type !== 'safety' || Math.abs(clock.now() - Date.parse(createdAt)) > RECORDED_WITHIN_MS) return false;
  return !catalog.operations().some(({ before, after }) => before === id || after === id);
}

function isEnd(type: Checkpoint['type']): boolean {
  return type === 'run_start' || type === 'post_step';
}

function openRunStarts({ catalog }: HomeContext): ReadonlySet<CheckpointId> {
  return new Set(catalog.openRuns().flatMap(({ runStart }) => (runStart === null ? [] : [runStart])));
}

/** The note that stops all dropping after a rebuild, until the user asks for it. */
export const RETENTION_PAUSED = 'retention-paused';

export function retentionPaused(context: HomeContext): boolean {
  return context.catalog.note(RETENTION_PAUSED) !== undefined;
}
