import type { Confirm } from '../../checkpoints/api/restore.ts';
import { presentState } from '../../checkpoints/capture/present.ts';
import { readSide } from '../../checkpoints/history/read-side.ts';
import { changeWorkspace } from '../../checkpoints/restore/change-workspace.ts';
import { lookAtPaths } from '../../checkpoints/restore/look-at-paths.ts';
import { planAroundUnseen } from '../../checkpoints/restore/plan-around-unseen.ts';
import type { Prepared } from '../../checkpoints/restore/restore-preparation.ts';
import type { WorkspaceContext } from '../../checkpoints/workspace/home-context.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { PathChange } from '../../domain/operation.ts';
import { overlayView } from '../../domain/overlay-view.ts';
import type { Plan } from '../../domain/plan.ts';
import { comparePaths, type RelPath } from '../../domain/rel-path.ts';
import { isStored } from '../../domain/snapshot.ts';
import { type ApplyQuestion, contentMerges, planApply } from '../../restore/plan/plan-apply.ts';
import { dropContents, holdContents } from '../../runs/worktree-contents.ts';
import { type MergedFile, mergeFiles } from '../../runs/worktree-merge.ts';
import type { SnapshotStore } from '../../stores/snapshot-store.ts';
import { compileScope } from '../../workspace/scope/scope.ts';
import type { BringOptions, BroughtResult } from './sandbox-results.ts';

/** Brings what changed in a plan's sandbox to a directory, as `worktree apply` does. All contents lie on `cas` already. */
export async function bringChanges(
  context: WorkspaceContext,
  plan: Plan,
  changes: readonly PathChange[],
  { dryRun = false, confirm = 'always' }: BringOptions,
): Promise<Omit<BroughtResult, 'broughtFrom'>> {
  const store = context.store('cas', context.identity);
  const { dirHash } = context.identity;
  let agreed = !dryRun && confirm === 'always';
  let merged: ReadonlyMap<RelPath, MergedFile> = new Map();
  const asking: Confirm =
    confirm === 'always'
      ? confirm
      : async (preview) => {
          agreed = await confirm(preview);
          return agreed;
        };
  const result = await changeWorkspace(context, store, {
    kind: 'apply',
    target: undefined,
    takesBack: null,
    description: `plan ${plan.id}`,
    reason: 'pre-restore-safety',
    prepare: async () => {
      const prepared = await prepareBring(context, store, changes);
      merged = prepared.merged;
      if (!agreed || merged.size === 0) return prepared;
      if (plan.runId === null) throw new WaymarkError('INTERNAL', `Plan ${plan.id} has no run`);
      const run = { runId: plan.runId, session: plan.sessionId ?? undefined };
      const contents = await holdContents(context, store, run, { ...prepared, rules: prepared.view.rules });
      return { ...prepared, contents };
    },
    preview: async (restorePlan) => ({
      kind: 'apply',
      plan: restorePlan,
      target: undefined,
      operation: undefined,
      warnings: [],
      verifyCommand: undefined,
    }),
    options: {
      confirm: asking,
      dryRun,
      ...(plan.sessionId === null ? {} : { session: plan.sessionId }),
    },
  });
  if (plan.runId !== null) await dropContents(context, dirHash, plan.runId);
  const done = new Set(result.changes.map(({ path }) => path));
  return { ...result, merged: [...merged.keys()].filter((path) => done.has(path)).sort(comparePaths) };
}

/** Plans to give each path its `after`; files that changed on both sides are merged where that can be done. */
async function prepareBring(
  context: WorkspaceContext,
  store: SnapshotStore,
  changes: readonly PathChange[],
): Promise<Prepared & { readonly merged: ReadonlyMap<RelPath, MergedFile> }> {
  const present = await presentState(context, store);
  const scope = compileScope(present.view.rules);
  const isSecret = (path: RelPath) => scope.isSecret(path);
  const unseen = changes
    .map(({ path }) => path)
    .filter((path) => !isStored(present.view.get(path)) && !isSecret(path));
  const edits = new Map([...present.view.edits, ...lookAtPaths(context.identity.path, present, unseen)]);
  const view = overlayView(present.view.base, edits, present.view.rules, present.view.truncated);
  const question: ApplyQuestion = { changes, present: view, selection: { paths: [] }, isSecret };
  const merged = await mergeFiles(contentMerges(question), {
    base: ({ base }) => store.readBlob(base.hash),
    ours: ({ path, ours }) => readSide(context, undefined, path, ours, ours.size),
    theirs: ({ theirs }) => store.readBlob(theirs.hash),
  });
  const entries = new Map([...merged].map(([path, { entry }]) => [path, entry]));
  const plan = planAroundUnseen(context.identity.path, view, (now) =>
    planApply({ ...question, present: now }, entries),
  );
  return { plan, view, present, merged };
}
