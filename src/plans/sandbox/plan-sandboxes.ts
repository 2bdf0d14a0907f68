import { lstatSync } from 'node:fs';
import type { PlanRepository } from '../../catalog/plans/plan-repository.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { Plan } from '../../domain/plan.ts';
import type { TreeState } from '../../worktree/create/tree-state.ts';
import type { PlanLog } from '../records/plan-log.ts';
import type { SandboxResults } from './sandbox-results.ts';
import type { SandboxRequest, SandboxStrategies } from './sandbox-strategy.ts';

export interface PlanSandboxesOptions {
  readonly repository: PlanRepository;
  readonly log: PlanLog;
  readonly strategies: SandboxStrategies;
  readonly results?: SandboxResults;
}

/** Makes and removes the sandboxes that plans own, and records it. */
export class PlanSandboxes {
  readonly #options: PlanSandboxesOptions;

  constructor(options: PlanSandboxesOptions) {
    this.#options = options;
  }

  /**
   * Makes the plan's sandbox ready, once; what a killed creation left is removed and made again.
   *
   * @throws WaymarkError `BUSINESS_RULE_VIOLATION` where a sandbox that was ready is missing now
   */
  async prepare(plan: Plan, source: string): Promise<Plan> {
    const { repository, log, strategies, results } = this.#options;
    if (plan.sandbox.state !== 'creating') {
      requireSandbox(plan);
      return plan;
    }
    const strategy = strategies[plan.sandbox.strategy];
    const request = requestFor(plan, source);
    if (strategy.name !== 'none') await strategy.remove(request, plan.sandbox);
    const { path, branch, notices } = await strategy.create(request);
    const made: Plan = { ...plan, sandbox: { ...plan.sandbox, path, branch } };
    const base = strategy.name === 'none' ? null : ((await results?.keepBase(made)) ?? null);
    return log.atomically('sandbox-created', () => {
      log.record({
        planId: plan.id,
        kind: 'sandbox_created',
        data: { strategy: strategy.name, path, branch, notices },
      });
      return repository.changePlan(plan.id, { sandbox: { ...made.sandbox, state: 'ready', base } });
    });
  }

  /** Shows that the plan's own sandbox is in use, until disposed. */
  hold(plan: Plan): Disposable | undefined {
    if (plan.sandbox.owner === 'shared') return undefined;
    return this.#options.strategies[plan.sandbox.strategy].hold?.(
      requestFor(plan, plan.workspace),
      plan.sandbox,
    );
  }

  /** Removes a sandbox that the plan owns, as it was at `seen`; `none` stays, being the workspace. */
  async remove(plan: Plan, seen?: TreeState): Promise<Plan> {
    const { repository, log, strategies, results } = this.#options;
    const { strategy, owner, state, path } = plan.sandbox;
    if (strategy === 'none' || owner === 'shared' || state === 'removed') return plan;
    await strategies[strategy].remove(requestFor(plan, plan.workspace), plan.sandbox, seen);
    await results?.release(plan);
    return log.atomically('sandbox-removed', () => {
      log.record({ planId: plan.id, kind: 'sandbox_removed', data: { strategy, path } });
      return repository.changePlan(plan.id, { sandbox: { ...plan.sandbox, state: 'removed' } });
    });
  }
}

function requestFor(plan: Plan, source: string): SandboxRequest {
  return { planId: plan.id, workspace: plan.workspace, source, carryChanges: plan.parentId !== null };
}

/** Tells whether the directory that a plan runs in is there. */
export function sandboxExists({ sandbox }: Plan): boolean {
  if (sandbox.state !== 'ready') return false;
  return lstatSync(sandbox.path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** @throws WaymarkError `BUSINESS_RULE_VIOLATION` */
export function requireSandbox(plan: Plan): void {
  if (sandboxExists(plan)) return;
  throw new WaymarkError(
    'BUSINESS_RULE_VIOLATION',
    `The sandbox of plan ${plan.id} is missing: ${plan.sandbox.path}`,
  );
}
