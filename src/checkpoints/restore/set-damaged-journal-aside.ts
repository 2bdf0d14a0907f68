import type { Checkpoint } from '../../domain/checkpoint.ts';
import { isWaymarkError, WaymarkError } from '../../domain/errors.ts';
import type { Operation } from '../../domain/operation.ts';
import { isoTime } from '../../platform/clock.ts';
import {
  type DamagedJournal,
  damageOfJournal,
  hasJournal,
  setJournalAside,
} from '../../restore/journal/journal.ts';
import type { JournalSetAside } from '../api/restore.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { lockWorkspace } from '../workspace/workspace-lock.ts';
import { findLeftovers } from './find-leftovers.ts';

/**
 * Takes a journal that can't be read out of the way, so that the workspace can be worked with again, and tells what is known of its restore.
 * The workspace stays as it is; the safety checkpoint is pinned.
 *
 * @throws WaymarkError `NOTHING_TO_UNDO` where there is no journal, `RESTORE_INTERRUPTED` where it can be read
 */
export async function setDamagedJournalAside(context: WorkspaceContext): Promise<JournalSetAside> {
  const { clock, fs, identity, ids, layout } = context;
  using _workspace = await lockWorkspace(context.locks, identity.path, 'exclusive', 10_000);
  if (!hasJournal(layout, identity.dirHash)) {
    throw new WaymarkError('NOTHING_TO_UNDO', `No interrupted restore in ${identity.path}`);
  }
  const damage = damageOfJournal(layout, identity.dirHash);
  if (damage === undefined) {
    throw new WaymarkError(
      'RESTORE_INTERRUPTED',
      `The journal of the interrupted restore of ${identity.path} can be read and is needed`,
      { hint: 'waymark recover --continue | --abort' },
    );
  }
  const operation = operationOf(context, damage);
  const named = operation?.before ?? damage.safetyId;
  const own = context.catalog.checkpoints({ dirHash: identity.dirHash });
  const certain = own.find(({ id }) => id === named);
  const safety = certain ?? own.find(({ type }) => type === 'safety');
  const warnings = safety === undefined ? [] : await keep(context, safety);
  const leftovers = findLeftovers(identity.path);
  const file = setJournalAside(fs, layout, identity.dirHash, ids.ulid());
  if (operation?.status === 'open') {
    context.catalog.finishOperation(operation.id, {
      status: 'interrupted',
      finishedAt: isoTime(clock.now()),
      before: operation.before,
      after: null,
      changedCount: 0,
      skippedCount: 0,
    });
  }
  return {
    file,
    problem: damage.problem,
    operation,
    safety,
    safetyIsGuessed: safety !== certain,
    leftovers,
    warnings,
  };
}

/** The operation that the journal names, else the one that is still open: each has its journal from before its first write. */
function operationOf(context: WorkspaceContext, { operationId }: DamagedJournal): Operation | undefined {
  const own = context.catalog.operations({ dirHash: context.identity.dirHash });
  return (
    own.find(({ id }) => id === operationId) ??
    own.find(({ kind, status }) => status === 'open' && kind !== 'run' && kind !== 'step')
  );
}

/** Nothing else protects the safety checkpoint from retention once its journal is gone. */
async function keep(context: WorkspaceContext, safety: Checkpoint): Promise<readonly string[]> {
  try {
    const store = context.store(safety.engine, safety.workspace);
    await using _hold = await store.hold('shared', 30_000);
    await store.setPinned(safety, true);
    context.catalog.setPinned(safety.id, true);
    return [];
  } catch (error) {
    if (!isWaymarkError(error)) throw error;
    return [`Safety checkpoint ${safety.id} could not be pinned: ${error.message}`];
  }
}
