import type { Checkpoint, CheckpointMetadata, CheckpointType } from '../../domain/checkpoint.ts';
import type { Coverage } from '../../domain/coverage.ts';
import type { CheckpointId, DecisionId, PlanId, RunId, SessionId } from '../../domain/ids.ts';
import { parseUlid } from '../../domain/ids.ts';
import { isoTime } from '../../platform/clock.ts';
import type { SnapshotStore, WrittenSnapshot } from '../../stores/snapshot-store.ts';
import { readGitPosition } from '../../workspace/git-position.ts';
import { noteLost } from '../retention/note-lost.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';

/** Who takes a checkpoint, and why. */
export interface CheckpointOrigin {
  readonly sessionId: SessionId;
  readonly type: CheckpointType;
  readonly metadata: CheckpointMetadata;
  readonly label: string | null;
  readonly runId: RunId | null;
  readonly planId: PlanId | null;
  readonly decisionId: DecisionId | null;
  readonly resourceId: string | null;
}

/** A snapshot in the store with what the record says of it. */
export interface DescribedSnapshot {
  readonly written: WrittenSnapshot;
  readonly coverage: Coverage;
  readonly sizeBytes: number;
}

/**
 * Takes a checkpoint in the order that leaves nothing half done: a row `creating` that reserves the seq, the content, the manifest, the row
 * `committed`. `write` stores the content, or gives undefined when there is nothing to keep after all. Whatever fails, nothing restorable is left.
 * Call under holds on workspace and store.
 */
export async function commitCheckpoint(
  context: WorkspaceContext,
  store: SnapshotStore,
  origin: CheckpointOrigin,
  write: () => Promise<DescribedSnapshot | undefined>,
): Promise<Checkpoint | undefined> {
  const { catalog, identity } = context;
  catalog.saveWorkspace(identity);
  const id = parseUlid<CheckpointId>(context.ids.ulid());
  const { sessionId, seq } = catalog.reserve({
    id,
    sessionId: origin.sessionId,
    dirHash: identity.dirHash,
    engine: store.engine,
    ownerLock: null,
  });
  try {
    const snapshot = await write();
    if (snapshot === undefined) {
      catalog.abandon(id);
      return undefined;
    }
    const record = {
      ...origin,
      id,
      sessionId,
      seq,
      workspace: identity,
      createdAt: isoTime(timeOfNext(context)),
      engine: store.engine,
      git: readGitPosition(identity.path),
      snapshot: snapshot.written.ref,
      coverage: snapshot.coverage,
      sizeBytes: snapshot.sizeBytes,
    };
    const published = await store.publish(record);
    return catalog.commit({ ...record, ...published });
  } catch (error) {
    await giveUp(context, store, id, sessionId, seq);
    throw error;
  } finally {
    await passOnWarnings(context, store);
  }
}

/** A clock that was put back by more than this was wrong before, ms. */
const STEP_BACK_MS = 24 * 60 * 60 * 1000;

/** The present, ms; where the clock stepped back, right after the workspace's newest checkpoint: which is newer must not depend on it. */
function timeOfNext({ catalog, clock, identity }: WorkspaceContext): number {
  const now = clock.now();
  const [newest] = catalog.checkpoints({ dirHash: identity.dirHash, limit: 1 });
  const then = newest === undefined ? now : Date.parse(newest.createdAt);
  return then > now && then - now < STEP_BACK_MS ? then + 1 : now;
}

/** What a store warns of can have cost it checkpoints. Never fails the capture. */
async function passOnWarnings(context: WorkspaceContext, store: SnapshotStore): Promise<void> {
  const warnings = store.takeWarnings?.() ?? [];
  for (const warning of warnings) context.warn(warning);
  if (warnings.length === 0) return;
  try {
    await noteLost(context, store);
  } catch (cause) {
    context.warn(`Whether checkpoints were lost is not known: ${(cause as Error).message}`);
  }
}

/** Leaves nothing restorable. What can't be cleaned now is found by its `creating` row later; the first error is the one to report. */
async function giveUp(
  context: WorkspaceContext,
  store: SnapshotStore,
  id: CheckpointId,
  sessionId: SessionId,
  seq: number,
): Promise<void> {
  try {
    await store.retract({ id, sessionId, seq, sandboxRef: null });
    context.catalog.abandon(id);
  } catch (cause) {
    context.warn(`Leftovers of checkpoint ${id} could not be removed now: ${(cause as Error).message}`);
  }
}
