import type { Confirm } from '../checkpoints/api/restore.ts';
import type { WorktreeApplyOptions, WorktreeApplyResult } from '../checkpoints/api/worktrees.ts';
import { presentState } from '../checkpoints/capture/present.ts';
import { readSide } from '../checkpoints/history/read-side.ts';
import { changeWorkspace } from '../checkpoints/restore/change-workspace.ts';
import { lookAtPaths } from '../checkpoints/restore/look-at-paths.ts';
import type { Prepared } from '../checkpoints/restore/restore-preparation.ts';
import type { WorkspaceContext } from '../checkpoints/workspace/home-context.ts';
import { overlayView } from '../domain/overlay-view.ts';
import { comparePaths, type RelPath } from '../domain/rel-path.ts';
import { isStored, type Skip } from '../domain/snapshot.ts';
import { type ApplyQuestion, contentMerges, planApply } from '../restore/plan/plan-apply.ts';
import type { SnapshotStore } from '../stores/snapshot-store.ts';
import { compileScope } from '../workspace/scope/scope.ts';
import { holdRun } from './run-record.ts';
import { appliedStates } from './worktree-applied.ts';
import { dropContents, holdContents } from './worktree-contents.ts';
import { type MergedFile, mergeFiles } from './worktree-merge.ts';
import { checkoutContext, placedPaths, type WorktreeCaller } from './worktree-place.ts';
import { captureResult, lookAtResult, type WorktreeResult } from './worktree-result.ts';
import { openState, type WorktreeState } from './worktree-state.ts';

/**
 * Brings what the runs of a worktree changed into the checkout, as one operation that can be undone. Contents lie on `cas`, which all workspaces share.
 *
 * @throws WaymarkError `RUN_NOT_FOUND`, `RUN_ACTIVE`, `WORKSPACE_MISMATCH`, `PLAN_STALE`, `CONFIRMATION_REQUIRED`, `DECLINED`, `RESTORE_INTERRUPTED`
 */
export async function applyWorktree(
  caller: WorktreeCaller,
  name: string,
  options: WorktreeApplyOptions,
): Promise<WorktreeApplyResult> {
  const state = await openState(caller, name);
  const { place, worktree } = state;
  const checkout = checkoutContext(caller, place);
  const store = checkout.store('cas', checkout.identity);
  refuseActive(state);
  const applied = await appliedStates(worktree, checkout, place.runId, state.present.record.createdAt);
  await dropContents(checkout, checkout.identity.dirHash, place.runId);

  const lookOnly = options.dryRun === true || options.confirm !== 'always';
  let result: WorktreeResult = lookOnly
    ? await lookAtResult(state, applied)
    : await captureResult(state, store, applied, options.session);
  let agreed = !lookOnly;
  let merged: ReadonlyMap<RelPath, MergedFile> = new Map();
  const confirm = options.confirm;
  const asking: Confirm | undefined =
    typeof confirm !== 'function'
      ? confirm
      : async (preview) => {
          if (!(await confirm(preview))) return false;
          // Its captures share a hold on the checkout, which is taken exclusively next.
          result = await captureResult(state, store, applied, options.session);
          agreed = true;
          return true;
        };
  const outcome = await changeWorkspace(checkout, store, {
    kind: 'apply',
    target: undefined,
    takesBack: null,
    runId: place.runId,
    description: `run ${place.runId}`,
    reason: 'pre-restore-safety',
    prepare: async () => {
      const prepared = await prepare(checkout, store, result, placedPaths(options.paths ?? [], place));
      merged = prepared.merged;
      if (!agreed || prepared.plan.actions.length === 0) return prepared;
      const run = { runId: place.runId, session: options.session };
      const contents = await holdContents(checkout, store, run, { ...prepared, rules: prepared.view.rules });
      return { ...prepared, contents };
    },
    preview: async (plan) => ({
      kind: 'apply',
      plan,
      target: undefined,
      operation: undefined,
      warnings: [],
      verifyCommand: undefined,
    }),
    options: { ...options, ...(asking === undefined ? {} : { confirm: asking }) },
  });
  await dropContents(checkout, checkout.identity.dirHash, place.runId);
  const done = new Set(outcome.changes.map(({ path }) => path));
  const files = [...merged.keys()].filter((path) => done.has(path)).sort(comparePaths);
  const skipped = [...outcome.skipped, ...result.skipped].sort((a, b) => comparePaths(a.path, b.path));
  return {
    ...outcome,
    skipped,
    runId: place.runId,
    into: checkout.identity.path,
    merged: files,
    messages: [...outcome.messages, ...messagesFor(state, outcome, files.length, skipped)],
  };
}

function refuseActive({ place, worktree }: WorktreeState): void {
  holdRun(worktree, place.runId, place.path)[Symbol.dispose]();
}

async function prepare(
  checkout: WorkspaceContext,
  store: SnapshotStore,
  { changes, origin, theirs }: WorktreeResult,
  paths: readonly string[],
): Promise<Prepared & { readonly merged: ReadonlyMap<RelPath, MergedFile> }> {
  const present = await presentState(checkout, store);
  const scope = compileScope(present.view.rules);
  const isSecret = (path: RelPath) => scope.isSecret(path);
  const unseen = changes
    .map(({ path }) => path)
    .filter((path) => !isStored(present.view.get(path)) && !isSecret(path));
  const edits = new Map([...present.view.edits, ...lookAtPaths(checkout.identity.path, present, unseen)]);
  const view = overlayView(present.view.base, edits, present.view.rules, present.view.truncated);
  const question: ApplyQuestion = { changes, present: view, selection: { paths }, isSecret };
  const merged = await mergeFiles(contentMerges(question), {
    base: ({ path, base }) => origin(path, base.hash),
    ours: ({ path, ours }) => readSide(checkout, undefined, path, ours, ours.size),
    theirs: ({ path, theirs: entry }) => theirs(path, entry.hash),
  });
  const entries = new Map([...merged].map(([path, { entry }]) => [path, entry]));
  return { plan: planApply(question, entries), view, present, merged };
}

function messagesFor(
  { place }: WorktreeState,
  outcome: {
    readonly dryRun: boolean;
    readonly changes: readonly unknown[];
    readonly safetyCheckpointId: string | null;
    readonly operationId: string | null;
  },
  merged: number,
  skipped: readonly Skip[],
): readonly string[] {
  const conflicts = skipped.filter(({ reason }) => reason === 'conflict').length;
  const notes = [
    ...(merged > 0 ? [`${counted(merged, 'file')} changed on both sides: merged`] : []),
    ...(conflicts > 0 ? [`${counted(conflicts, 'conflict')}: left as here`] : []),
  ];
  if (outcome.dryRun) return ['Dry run: nothing was written', ...notes];
  if (outcome.safetyCheckpointId === null) return [`Nothing to apply of run ${place.runId}`, ...notes];
  return [
    `Applied run ${place.runId}: ${counted(outcome.changes.length, 'path')}. Safety checkpoint created at \`${outcome.safetyCheckpointId}\`.`,
    ...notes,
    `Take it back with: waymark undo ${outcome.operationId}`,
  ];
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
