import { isDeepStrictEqual } from 'node:util';
import type { Confirm } from '../../checkpoints/api/restore.ts';
import { createCheckpoint } from '../../checkpoints/capture/create-checkpoint.ts';
import { openSnapshot } from '../../checkpoints/history/open-snapshot.ts';
import { pin } from '../../checkpoints/retention/pin.ts';
import type { WorkspaceContext } from '../../checkpoints/workspace/home-context.ts';
import type { Checkpoint } from '../../domain/checkpoint.ts';
import { makesPartial } from '../../domain/coverage.ts';
import { changesOf } from '../../domain/diff.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { CheckpointId } from '../../domain/ids.ts';
import type { PathChange } from '../../domain/operation.ts';
import type { Plan } from '../../domain/plan.ts';
import type { Skip } from '../../domain/snapshot.ts';
import { contextFor, type PlanHome } from '../records/plan-home.ts';
import { bringChanges } from './bring-changes.ts';
import type { BringOptions, BroughtResult, SandboxResults } from './sandbox-results.ts';

/** What a plan did in its sandbox. */
interface Outcome {
  readonly changes: readonly PathChange[];
  /** paths that differ, as far as can be told, and whose content is not held */
  readonly lost: readonly Skip[];
  /** the sandbox as it was then */
  readonly result: CheckpointId;
}

/**
 * Results by checkpoints: one before the first step, one when they are asked for, without limits. Both are kept on `cas`, which is shared by all workspaces, so that
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

  async bring(plan: Plan, into: string, options: BringOptions = {}): Promise<BroughtResult> {
    let outcome = await this.#outcome(plan);
    const { changes, lost } = outcome;
    const { confirm } = options;
    const asking: Confirm | undefined =
      typeof confirm !== 'function'
        ? confirm
        : async (preview) => {
            if (!(await confirm(preview))) return false;
            outcome = await this.#outcome(plan);
            if (!isDeepStrictEqual([outcome.changes, outcome.lost], [changes, lost])) throw stale(plan);
            return true;
          };
    const context = contextFor(this.#planHome, plan, into);
    const result = await bringChanges(context, plan, changes, {
      ...options,
      ...(asking === undefined ? {} : { confirm: asking }),
    });
    return { ...result, skipped: [...result.skipped, ...lost], broughtFrom: outcome.result };
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
      result: result.id,
    };
  }

  async #capture(plan: Plan, context: WorkspaceContext, reason: string): Promise<Checkpoint> {
    const { checkpoint } = await createCheckpoint(context, {
      type: 'manual',
      engine: 'cas',
      reason,
      source: 'plan',
      reach: 'unlimited',
      ...(plan.sessionId === null ? {} : { session: plan.sessionId }),
    });
    if (checkpoint !== null) return checkpoint;
    throw new WaymarkError('INTERNAL', `No checkpoint of ${context.identity.path} was taken`);
  }
}

function stale({ sandbox }: Plan): WaymarkError {
  return new WaymarkError('PLAN_STALE', `The sandbox ${sandbox.path} changed since its result was shown`, {
    hint: 'Nothing was written; look at it again',
  });
}
