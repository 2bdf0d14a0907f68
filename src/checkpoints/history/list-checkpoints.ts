import type { Checkpoint } from '../../domain/checkpoint.ts';
import { type DirHash, type PlanId, parseSessionId, parseUlid, type RunId } from '../../domain/ids.ts';
import type { ListFilter } from '../api/checkpoints.ts';
import type { HomeContext } from '../workspace/home-context.ts';

/** Committed checkpoints, newest first, of one workspace or (undefined, or `everywhere`) of all; answered from the catalog. */
export function listCheckpoints(
  context: HomeContext,
  filter: ListFilter,
  dirHash: DirHash | undefined,
): readonly Checkpoint[] {
  return context.catalog.checkpoints({
    ...(filter.everywhere || dirHash === undefined ? {} : { dirHash }),
    ...(filter.session === undefined ? {} : { sessionId: parseSessionId(filter.session) }),
    ...(filter.plan === undefined ? {} : { planId: parseUlid<PlanId>(filter.plan) }),
    ...(filter.run === undefined ? {} : { runId: filter.run as RunId }),
  });
}
