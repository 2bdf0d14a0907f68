import type { RestoreResult } from '../checkpoints/api.ts';
import { changeWorkspace } from '../checkpoints/change-workspace.ts';
import { createCheckpoint } from '../checkpoints/create-checkpoint.ts';
import type { WorkspaceContext } from '../checkpoints/home-context.ts';
import { lookAtPaths } from '../checkpoints/look-at-paths.ts';
import { openSnapshot } from '../checkpoints/open-snapshot.ts';
import { pin } from '../checkpoints/pin.ts';
import { planAroundUnseen } from '../checkpoints/plan-around-unseen.ts';
import { presentState } from '../checkpoints/present.ts';
import type { Prepared } from '../checkpoints/restore-preparation.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import { makesPartial } from '../domain/coverage.ts';
import { changesOf } from '../domain/diff.ts';
import { WaymarkError } from '../domain/errors.ts';
import type { CheckpointId } from '../domain/ids.ts';
import type { PathChange } from '../domain/operation.ts';
import { overlayView } from '../domain/overlay-view.ts';
import type { Plan } from '../domain/plan.ts';
import type { RelPath } from '../domain/rel-path.ts';
import { isStored, type Skip } from '../domain/snapshot.ts';
import { planUndo } from '../restore/plan-undo.ts';
import { compileScope } from '../workspace/scope/scope.ts';
import { contextFor, type PlanHome } from './plan-home.ts';
import type { BringOptions, SandboxResults } from './sandbox-results.ts';

/** What a plan did in its sandbox. */
interface Outcome {
  readonly changes: readonly PathChange[];
  /** paths that differ, as far as can be told, and whose content is not held */
  readonly lost: readonly Skip[];
}

/**
 * Results by checkpoints: one before the first step, one when they are asked for. Both are kept on `cas`, which is shared by all workspaces, so that
 * the content is at hand where it is brought.
 */
export class WorkspaceSandboxResults implements SandboxResults {
  readonly #planHome: PlanHome;

  constructor(planHome: PlanHome) {
    this.#planHome = planHome;
  }

  async keepBase(plan: Plan): Promise<CheckpointId> {
    const context = contextFor(this.#planHome, plan, plan.sandbox.path);
    const { id } = await this.#capture(plan, context, 'sandbox-base');
    await pin(context, id, true);
    return id;
  }

  async release(plan: Plan): Promise<void> {
    const { base } = plan.sandbox;
    const context = contextFor(this.#planHome, plan, plan.workspace);
    if (base !== null && context.catalog.checkpoint(base) !== undefined) await pin(context, base, false);
  }

  async changes(plan: Plan): Promise<readonly PathChange[]> {
    return (await this.#outcome(plan)).changes;
  }

  async bring(plan: Plan, into: string, options: BringOptions = {}): Promise<RestoreResult> {
    const { changes, lost } = await this.#outcome(plan);
    const context = contextFor(this.#planHome, plan, into);
    const store = context.store('cas', context.identity);
    const backwards = changes.map(({ path, before, after }) => ({ path, before: after, after: before }));
    const result = await changeWorkspace(context, store, {
      kind: 'apply',
      target: undefined,
      takesBack: null,
      description: `plan ${plan.id}`,
      reason: 'pre-restore-safety',
      prepare: () => prepareBring(context, backwards),
      preview: async (restorePlan) => ({
        kind: 'apply',
        plan: restorePlan,
        target: undefined,
        operation: undefined,
        warnings: [],
        verifyCommand: undefined,
      }),
      options: {
        confirm: options.confirm ?? 'always',
        dryRun: options.dryRun ?? false,
        ...(plan.sessionId === null ? {} : { session: plan.sessionId }),
      },
    });
    return { ...result, skipped: [...result.skipped, ...lost] };
  }

  async #outcome(plan: Plan): Promise<Outcome> {
    const context = contextFor(this.#planHome, plan, plan.sandbox.path);
    const { base: baseId } = plan.sandbox;
    const base = baseId === null ? undefined : context.catalog.checkpoint(baseId);
    if (base === undefined) {
      throw new WaymarkError(
        'BUSINESS_RULE_VIOLATION',
        `What the sandbox of plan ${plan.id} began with is not known`,
        {
          hint: `Its files are in ${plan.sandbox.path}`,
        },
      );
    }
    const result = await this.#capture(plan, context, 'sandbox-result');
    const from = await openSnapshot(context, base);
    const to = await openSnapshot(context, result);
    const pairs = [...from.store.diff(from.view, to.view)];
    const lost = pairs.flatMap(({ path, from: before, to: after }) => {
      const unknown = after?.kind === 'observed' ? after : before?.kind === 'observed' ? before : undefined;
      return unknown !== undefined && makesPartial(unknown.reason) ? [{ path, reason: unknown.reason }] : [];
    });
    return {
      changes: [...changesOf(pairs)].map((change) => ({
        path: change.path,
        before: change.from,
        after: change.to,
      })),
      lost,
    };
  }

  async #capture(plan: Plan, context: WorkspaceContext, reason: string): Promise<Checkpoint> {
    const { checkpoint } = await createCheckpoint(context, {
      type: 'manual',
      engine: 'cas',
      reason,
      source: 'plan',
      ...(plan.sessionId === null ? {} : { session: plan.sessionId }),
    });
    if (checkpoint !== null) return checkpoint;
    throw new WaymarkError(
      'UNSUPPORTED',
      `The sandbox ${context.identity.path} has too many files for a checkpoint`,
    );
  }
}

/** Plans to give each path its `before`, where the present still is its `after`; as undo does, with the sides exchanged by the caller. */
async function prepareBring(context: WorkspaceContext, changes: readonly PathChange[]): Promise<Prepared> {
  const store = context.store('cas', context.identity);
  const present = await presentState(context, store);
  const scope = compileScope(present.view.rules);
  const unseen = changes
    .map(({ path }) => path)
    .filter((path) => !isStored(present.view.get(path)) && !scope.isSecret(path));
  const edits = new Map([...present.view.edits, ...lookAtPaths(context.identity.path, present, unseen)]);
  const view = overlayView(present.view.base, edits, present.view.rules, present.view.truncated);
  const isSecret = (path: RelPath) => scope.isSecret(path);
  const plan = planAroundUnseen(context.identity.path, view, (now) =>
    planUndo({ changes, present: now, selection: { paths: [] }, force: false, isSecret }),
  );
  return { plan, view, draft: present.draft };
}
