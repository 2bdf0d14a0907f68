import { WaymarkError } from '../domain/errors.ts';
import { quotePath } from '../domain/rel-path.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import type { Git } from '../platform/git-process.ts';
import type { Observation, ObserveOptions } from './observation.ts';
import { ObservationRun } from './observation-run.ts';
import { TableCache } from './walk/table-cache.ts';

export interface ObserveInput extends ObserveOptions {
  /** without it no file counts as tracked */
  readonly git?: Git;
  readonly clock?: Clock;
}

/**
 * Walks a workspace and says how it differs from the base snapshot of the stat cache. Reads no file; the draft's `read` does.
 *
 * @throws WaymarkError `WORKSPACE_NOT_FOUND`, `PERMISSION_DENIED` for the root itself, `IO_ERROR` where the process has no file
 * descriptors or memory left, `INTERRUPTED` on `signal`
 */
export async function observeWorkspace(input: ObserveInput): Promise<Observation> {
  if (!input.root.startsWith('/')) {
    throw new WaymarkError('VALIDATION_ERROR', `Workspace ${quotePath(input.root)} is not an absolute path`);
  }
  const base = input.cache instanceof TableCache ? input.cache : undefined;
  return new ObservationRun(input, input.clock ?? systemClock, input.git, base).observe();
}
