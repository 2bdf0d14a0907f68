import type { KeepInput } from '../../domain/always-kept.ts';
import type { CheckpointId } from '../../domain/ids.ts';
import { journaledCheckpoints } from '../../restore/journal/journal.ts';
import type { HomeContext } from '../workspace/home-context.ts';

/** What retention must leave alone at this moment, over all workspaces. */
export function keepInput(context: HomeContext): KeepInput {
  const { catalog, layout } = context;
  const starts = catalog.openRuns().flatMap(({ runStart }) => (runStart === null ? [] : [runStart]));
  return {
    operations: catalog.operations(),
    openRunStarts: new Set<CheckpointId>(starts),
    journal: new Set<CheckpointId>(journaledCheckpoints(layout)),
  };
}

/** The note that stops all dropping after a rebuild, until the user asks for it. */
export const RETENTION_PAUSED = 'retention-paused';

export function retentionPaused(context: HomeContext): boolean {
  return context.catalog.note(RETENTION_PAUSED) !== undefined;
}
