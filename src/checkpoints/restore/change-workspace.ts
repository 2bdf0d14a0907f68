import type { Checkpoint } from '../../domain/checkpoint.ts';
import { countText } from '../../domain/count-text.ts';
import { summarize } from '../../domain/diff.ts';
import { WaymarkError } from '../../domain/errors.ts';
import { type OperationId, parseUlid, type RunId, type SessionId } from '../../domain/ids.ts';
import type { Operation, OperationKind } from '../../domain/operation.ts';
import { refuseAborted } from '../../domain/refuse-aborted.ts';
import { comparePaths } from '../../domain/rel-path.ts';
import type { Skip } from '../../domain/snapshot.ts';
import { isoTime } from '../../platform/clock.ts';
import type { RestorePlan } from '../../restore/plan/restore-plan.ts';
import type { SnapshotStore } from '../../stores/snapshot-store.ts';
import type { Confirm, Preview, RestoreResult } from '../api/restore.ts';
import { keepCache } from '../capture/trusted-cache.ts';
import { useSession } from '../sessions/session.ts';
import { refuseDuringRun } from '../workspace/claims.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { refuseWithJournal } from '../workspace/refuse-with-journal.ts';
import { requireRoot } from '../workspace/require-root.ts';
import { lockWorkspace } from '../workspace/workspace-lock.ts';
import { innerWorkspaces } from '../workspace/workspaces-inside.ts';
import { executePlan } from './execute-plan.ts';
import { preflight } from './preflight.ts';
import type { Prepared } from './restore-preparation.ts';
import { takeSafetyCheckpoint } from './safety-checkpoint.ts';

/** How long a restore waits for captures and collections to end, ms. */
const PATIENCE_MS = 10_000;

/** A change of the workspace that is planned, shown, agreed to, held by a safety checkpoint and executed. */
export interface WorkspaceChange {
  readonly kind: Extract<OperationKind, 'restore' | 'undo' | 'redo' | 'apply'>;
  readonly target: Checkpoint | undefined;
  readonly takesBack: OperationId | null;
  /** the run whose result is brought; default: the run this is done in */
  readonly runId?: RunId;
  readonly description: string;
  /** the safety checkpoint's */
  readonly reason: 'pre-restore-safety' | 'pre-restore-safety-file';
  /** Plans against the workspace as it is; called under holds, perhaps twice. */
  readonly prepare: () => Promise<Prepared>;
  readonly preview: (plan: RestorePlan) => Promise<Preview>;
  /** Told the operation once it is recorded, before anything changes. */
  readonly onOpened?: (operation: OperationId) => void;
  readonly options: ChangeOptions;
}

export interface ChangeOptions {
  readonly dryRun?: boolean;
  readonly confirm?: Confirm;
  readonly preserveMtime?: boolean;
  readonly session?: string;
  readonly waitMs?: number;
  /** Heard until the first change is made; what has begun is finished. */
  readonly signal?: AbortSignal;
}

/**
 * Plans, asks, and executes under an exclusive hold of the workspace. Nothing is written before consent.
 *
 * @throws WaymarkError `INTERRUPTED` before anything is changed
 */
export async function changeWorkspace(
  context: WorkspaceContext,
  store: SnapshotStore,
  change: WorkspaceChange,
): Promise<RestoreResult> {
  const { options } = change;
  const started = context.clock.now();
  const interrupted = `The ${change.kind} was interrupted; nothing was changed`;
  refuseAborted(options.signal, interrupted);
  const shown = await showPlan(context, store, change);
  refuseAborted(options.signal, interrupted);
  if (shown !== undefined && (options.dryRun || shown.plan.actions.length === 0)) {
    return resultOf(context, change, started, { plan: shown.plan, warnings: shown.warnings });
  }
  return await underHolds(context, store, 'exclusive', options.waitMs ?? 0, async () => {
    const prepared = await change.prepare();
    const preview = await change.preview(prepared.plan);
    if (shown !== undefined && !samePlan(shown.plan, prepared.plan)) {
      throw new WaymarkError(
        'PLAN_STALE',
        `The workspace ${context.identity.path} changed since the plan was shown`,
        {
          hint: 'Nothing was written; look at it again',
        },
      );
    }
    if (prepared.plan.actions.length === 0) {
      return resultOf(context, change, started, { plan: prepared.plan, warnings: preview.warnings });
    }
    await preflight(context, store, prepared.plan);
    refuseAborted(options.signal, interrupted);
    const session = useSession(context, options.session).id;
    const safety = await takeSafetyCheckpoint(context, store, prepared, {
      sessionId: session,
      reason: change.reason,
    });
    refuseAborted(options.signal, interrupted);
    const operation = openOperation(context, change, session, safety.checkpoint);
    const outcome = await executePlan(context, store, {
      operation,
      plan: safety.plan,
      target: prepared.contents ?? change.target,
      safety: safety.checkpoint,
      preserveMtime: options.preserveMtime ?? false,
    });
    const { trusted } = prepared.present;
    // What the restore added to the store casts no doubt on what was there.
    if (trusted !== undefined) await keepCache(context, store, undefined, trusted.ref);
    return resultOf(context, change, started, {
      plan: {
        ...safety.plan,
        actions: outcome.done,
        skips: sorted([...safety.plan.skips, ...outcome.skips]),
      },
      warnings: [...preview.warnings, ...outcome.warnings],
      safety: safety.checkpoint,
      operation,
    });
  });
}

/** Makes and shows the plan without holding anything while the person decides. Undefined: consent was given beforehand. */
async function showPlan(
  context: WorkspaceContext,
  store: SnapshotStore,
  change: WorkspaceChange,
): Promise<{ readonly plan: RestorePlan; readonly warnings: readonly string[] } | undefined> {
  const { confirm, dryRun, waitMs } = change.options;
  if (!dryRun && confirm === 'always') return undefined;
  const { plan } = await underHolds(context, store, 'shared', waitMs ?? 0, change.prepare);
  const preview = await change.preview(plan);
  if (dryRun || plan.actions.length === 0) return { plan, warnings: preview.warnings };
  if (confirm === undefined) {
    throw new WaymarkError(
      'CONFIRMATION_REQUIRED',
      `This would change ${countText(plan.actions.length, 'path')} and needs your consent`,
      {
        hint: 'Look with --dry-run; go on with --yes',
      },
    );
  }
  if (confirm !== 'always' && !(await confirm(preview)))
    throw new WaymarkError('DECLINED', 'Declined: nothing was changed');
  return { plan, warnings: preview.warnings };
}

async function underHolds<T>(
  context: WorkspaceContext,
  store: SnapshotStore,
  mode: 'shared' | 'exclusive',
  waitMs: number,
  body: () => Promise<T>,
): Promise<T> {
  const root = context.identity.path;
  await refuseDuringRun(context, root, waitMs);
  const inner = innerWorkspaces(context).map(({ path }) => path);
  using _workspace = await lockWorkspace(context.locks, root, mode, Math.max(waitMs, PATIENCE_MS), inner);
  requireRoot(context);
  await refuseDuringRun(context, root, 0);
  refuseWithJournal(context);
  await using _store = await store.hold('shared', PATIENCE_MS);
  return await body();
}

function openOperation(
  context: WorkspaceContext,
  change: WorkspaceChange,
  sessionId: SessionId,
  safety: Checkpoint,
): Operation {
  const operation: Operation = {
    id: parseUlid<OperationId>(context.ids.ulid()),
    kind: change.kind,
    dirHash: context.identity.dirHash,
    sessionId,
    runId: change.runId ?? safety.runId,
    planId: safety.planId,
    startedAt: isoTime(context.clock.now()),
    finishedAt: null,
    status: 'open',
    before: safety.id,
    after: null,
    takesBack: change.takesBack,
    description: change.description,
    changedCount: 0,
    skippedCount: 0,
  };
  context.catalog.openOperation(operation);
  change.onOpened?.(operation.id);
  return operation;
}

function samePlan(a: RestorePlan, b: RestorePlan): boolean {
  const text = (plan: RestorePlan): string =>
    JSON.stringify([plan.actions, plan.skips], (_, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    );
  return text(a) === text(b);
}

function sorted(skips: readonly Skip[]): readonly Skip[] {
  return skips.toSorted((a, b) => comparePaths(a.path, b.path));
}

function resultOf(
  context: WorkspaceContext,
  change: WorkspaceChange,
  started: number,
  done: {
    readonly plan: RestorePlan;
    readonly warnings: readonly string[];
    readonly safety?: Checkpoint;
    readonly operation?: Operation;
  },
): RestoreResult {
  return {
    dryRun: change.options.dryRun ?? false,
    target: change.target,
    sessionId: done.operation?.sessionId ?? change.target?.sessionId ?? null,
    safetyCheckpointId: done.safety?.id ?? null,
    operationId: done.operation?.id ?? null,
    changes: done.plan.actions.map(({ path, action }) => ({ path, action })),
    summary: summarize(done.plan.actions),
    skipped: done.plan.skips,
    warnings: done.warnings,
    verified: undefined,
    elapsedMs: context.clock.now() - started,
    messages: [],
  };
}
