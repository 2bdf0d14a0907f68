import type { Checkpoint, EngineName } from '../../domain/checkpoint.ts';
import { countText } from '../../domain/count-text.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { OperationId } from '../../domain/ids.ts';
import { parseSessionId } from '../../domain/ids.ts';
import type { Operation, PathChange } from '../../domain/operation.ts';
import { overlayView } from '../../domain/overlay-view.ts';
import { comparePaths } from '../../domain/rel-path.ts';
import { isStored, type Skip } from '../../domain/snapshot.ts';
import { hasJournal } from '../../restore/journal/journal.ts';
import { planUndo } from '../../restore/plan/plan-undo.ts';
import type { SnapshotStore } from '../../stores/snapshot-store.ts';
import { compileScope } from '../../workspace/scope/scope.ts';
import type { RestoreResult, UndoOptions } from '../api/restore.ts';
import { presentState } from '../capture/present.ts';
import { unknownChanges } from '../history/operation-changes.ts';
import { changeWorkspace } from '../restore/change-workspace.ts';
import { lookAtPaths } from '../restore/look-at-paths.ts';
import { planAroundUnseen } from '../restore/plan-around-unseen.ts';
import type { Prepared } from '../restore/restore-preparation.ts';
import { endDeadRuns } from '../retention/sweep.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { refuseWithJournal } from '../workspace/refuse-with-journal.ts';
import { requireOwn } from '../workspace/require-own.ts';
import { lockWorkspace } from '../workspace/workspace-lock.ts';
import { notePart, noteTargets, operationToRedo, operationToUndo } from './choose-operation.ts';
import { concurrentRuns } from './concurrent-runs.ts';
import { sessionChanges, sessionOperations } from './session-changes.ts';
import { undoableChanges } from './undoable-changes.ts';

/** What is to be taken back: path by path from `after` to `before`. */
interface TakeBack {
  readonly kind: 'undo' | 'redo';
  readonly takesBack: OperationId | null;
  readonly description: string;
  readonly operation: Operation | undefined;
  /** the operations that are taken back, as they were when the changes were last asked for */
  readonly targets: () => readonly Operation[];
  /** how to name it on the command line */
  readonly command: string;
  /** holds every `before` */
  readonly engine: EngineName;
  readonly changes: (store: SnapshotStore) => Promise<readonly PathChange[]>;
  /** What changed too and can't be taken back, as one of the two states was not stored. */
  readonly unknown?: () => Promise<readonly Skip[]>;
}

/** Takes back one operation, or a whole session's, where the workspace still is as it left it. */
export async function undo(context: WorkspaceContext, options: UndoOptions): Promise<RestoreResult> {
  await refuseInterrupted(context);
  if (options.session !== undefined && options.operation === undefined) {
    const session = parseSessionId(options.session);
    let targets: readonly Operation[] = [];
    return await takeBack(context, options, {
      kind: 'undo',
      takesBack: null,
      description: `session ${session}`,
      operation: undefined,
      targets: () => targets,
      command: `waymark undo --session ${session}`,
      engine: engineOfSession(context, session, options.force),
      changes: async (store) => {
        // One may have ended since.
        targets = sessionOperations(context, session);
        return await sessionChanges(context, store, session, targets);
      },
    });
  }
  endDeadRuns(context);
  const operation = await operationToUndo(context, options.operation, options.force ?? false);
  return await takeBack(context, options, {
    kind: 'undo',
    takesBack: operation.id,
    description: `${operation.kind} ${operation.id}`,
    operation,
    targets: () => [operation],
    command: `waymark undo ${operation.id}`,
    engine: beforeOf(context, operation, options.force).engine,
    changes: () => undoableChanges(context, operation),
    unknown: () => unknownChanges(context, operation),
  });
}

/** Takes back the newest undo that was not redone. */
export async function redo(
  context: WorkspaceContext,
  options: Omit<UndoOptions, 'operation' | 'session'>,
): Promise<RestoreResult> {
  await refuseInterrupted(context);
  const operation = operationToRedo(context);
  return await takeBack(context, options, {
    kind: 'redo',
    takesBack: operation.id,
    description: `undo ${operation.id}`,
    operation,
    targets: () => [],
    command: 'waymark redo',
    engine: beforeOf(context, operation, options.force).engine,
    changes: () => undoableChanges(context, operation),
    unknown: () => unknownChanges(context, operation),
  });
}

/** What to take back is not known before an interrupted restore was brought to one of its ends. One that goes on now is none. */
async function refuseInterrupted(context: WorkspaceContext): Promise<void> {
  if (!hasJournal(context.layout, context.identity.dirHash)) return;
  using _hold = await lockWorkspace(context.locks, context.identity.path, 'shared', 10_000);
  refuseWithJournal(context);
}

async function takeBack(
  context: WorkspaceContext,
  options: UndoOptions,
  what: TakeBack,
): Promise<RestoreResult> {
  const store = context.store(what.engine, context.identity);
  const { session: _session, ...rest } = options;
  let changedSince = 0;
  const result = await changeWorkspace(context, store, {
    kind: what.kind,
    target: undefined,
    takesBack: what.takesBack,
    description: what.description,
    reason: 'pre-restore-safety',
    prepare: async () => {
      const { prepared, conflicts } = await prepareUndo(context, store, what, options);
      changedSince = conflicts;
      return prepared;
    },
    preview: async (plan) => ({
      kind: what.kind,
      plan,
      target: undefined,
      operation: what.operation,
      warnings: await concurrentRuns(context, what.targets(), plan),
      verifyCommand: undefined,
    }),
    onOpened: (operation) => {
      if (what.takesBack === null) {
        noteTargets(
          context,
          operation,
          what.targets().map(({ id }) => id),
        );
      }
      if (what.kind === 'undo' && (changedSince > 0 || (options.paths?.length ?? 0) > 0)) {
        notePart(context, operation);
      }
    },
    options: rest,
  });
  return { ...result, messages: messagesFor(what, result, changedSince) };
}

/** Also counts the paths that are left alone as they were changed since. */
async function prepareUndo(
  context: WorkspaceContext,
  store: SnapshotStore,
  what: TakeBack,
  options: UndoOptions,
): Promise<{ readonly prepared: Prepared; readonly conflicts: number }> {
  const changes = await what.changes(store);
  const present = await presentState(context, store);
  const scope = compileScope(present.view.rules);
  const unseen = changes
    .map(({ path }) => path)
    .filter((path) => !isStored(present.view.get(path)) && !scope.isSecret(path));
  const edits = new Map([...present.view.edits, ...lookAtPaths(context.identity.path, present, unseen)]);
  const view = overlayView(present.view.base, edits, present.view.rules, present.view.truncated);
  const plan = planAroundUnseen(context.identity.path, view, (now) =>
    planUndo({
      changes,
      present: now,
      selection: { paths: options.paths ?? [] },
      force: options.force ?? false,
      isSecret: (path) => scope.isSecret(path),
    }),
  );
  const lost = (await what.unknown?.()) ?? [];
  const skips = [...plan.skips, ...lost].sort((a, b) => comparePaths(a.path, b.path));
  const conflicts = plan.skips.filter(({ reason }) => reason === 'conflict').length;
  return { prepared: { plan: { ...plan, skips }, view, present }, conflicts };
}

function beforeOf(context: WorkspaceContext, operation: Operation, force = false): Checkpoint {
  const before = operation.before === null ? undefined : context.catalog.checkpoint(operation.before);
  if (before !== undefined) {
    requireOwn(context, before, force);
    return before;
  }
  throw new WaymarkError(
    'UNDO_IMPOSSIBLE',
    `Operation ${operation.id} (${operation.kind}) has no checkpoint of its state before it`,
    {
      hint: 'See: waymark checkpoints list',
    },
  );
}

function engineOfSession(
  context: WorkspaceContext,
  session: ReturnType<typeof parseSessionId>,
  force = false,
): EngineName {
  const [newest] = context.catalog.checkpoints({ sessionId: session, dirHash: context.identity.dirHash });
  if (newest !== undefined) {
    requireOwn(context, newest, force);
    return newest.engine;
  }
  throw new WaymarkError(
    'SESSION_NOT_FOUND',
    `Session "${session}" has no checkpoint of ${context.identity.path}`,
  );
}

function messagesFor(what: TakeBack, result: RestoreResult, changedSince: number): readonly string[] {
  if (result.dryRun) return ['Dry run: nothing was written'];
  const done = what.kind === 'undo' ? 'Undid' : 'Redid';
  const left =
    changedSince === 0
      ? []
      : [
          `${countText(changedSince, 'path was', 'paths were')} changed since: ${what.command} --force takes ${changedSince === 1 ? 'it' : 'them'} back too`,
        ];
  if (result.safetyCheckpointId === null) {
    if (left.length > 0) return [`Nothing of ${what.description} was taken back`, ...left];
    if (result.skipped.length > 0)
      return [`Nothing else to ${what.kind}: what ${what.description} left is listed`];
    return [`Nothing to ${what.kind}: ${what.description} left nothing to take back`];
  }
  return [
    `${done} ${what.description}: ${countText(result.changes.length, 'path')}. ` +
      `Safety checkpoint created at \`${result.safetyCheckpointId}\` — use this to undo the restore.`,
    ...left,
  ];
}
