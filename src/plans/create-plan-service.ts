import { createCheckpointRepository } from '../catalog/plans/sqlite-checkpoint-repository.ts';
import { createPlanRepository } from '../catalog/plans/sqlite-plan-repository.ts';
import { openCatalogDatabase } from '../catalog/sqlite/catalog-database.ts';
import { diffCheckpoints } from '../checkpoints/diff/diff-checkpoints.ts';
import { deleteCheckpoint } from '../checkpoints/retention/delete-checkpoint.ts';
import type { HomeContext } from '../checkpoints/workspace/home-context.ts';
import { refuseWithJournal } from '../checkpoints/workspace/refuse-with-journal.ts';
import { isWaymarkError, WaymarkError } from '../domain/errors.ts';
import type { CheckpointId } from '../domain/ids.ts';
import type { Plan } from '../domain/plan.ts';
import { checkpointOfPlan } from './checkpoints/plan-checkpoint.ts';
import { appendGuidance, correctionImpact, decisionToCorrect, revertDecision } from './correct-plan.ts';
import { executeRootPlan } from './execute-root-plan.ts';
import { applyPlan, cancelPlan } from './finish-plan.ts';
import { createPlanEngine, type PlanEngine } from './plan-engine.ts';
import type { CorrectionResult, CorrectOptions, ExecuteOptions, PlanService } from './plan-service.ts';
import { planStatus } from './plan-status.ts';
import { planTree } from './plan-tree.ts';
import { findPlan, rootOf } from './records/find-plan.ts';
import { contextFor, type PlanHome } from './records/plan-home.ts';
import { holdPlan, isPlanHeld } from './records/plan-lock.ts';
import { createPlanLog } from './records/plan-log.ts';
import { ownerOf, rollBackPlan } from './rollback/roll-back-plan.ts';
import { isSettled, settleRollbacks } from './rollback/settle-rollbacks.ts';
import { requireSandbox, sandboxExists } from './sandbox/plan-sandboxes.ts';
import { startPlan } from './start-plan.ts';
import { WorkspaceCheckpointService } from './workspace-checkpoint-service.ts';

export interface PlanServiceOptions {
  readonly home: HomeContext;
  /** the environment of the commands that plans run */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Throws `WORKSPACE_REFUSED` for a directory that is no workspace (`/`, the home…). */
  readonly requireWorkspace?: (directory: string, allowRoot: boolean) => void;
}

/** Opens the plans of a home. */
export function createPlanService({ home, environment, requireWorkspace }: PlanServiceOptions): PlanService {
  const database = openCatalogDatabase(home.layout.catalog, home.fs);
  const repository = createPlanRepository(database, home.clock);
  const log = createPlanLog(repository, home.clock);
  const planHome: PlanHome = {
    home,
    repository,
    log,
    checkpointRecords: createCheckpointRepository(database),
  };
  const checkpoints = new WorkspaceCheckpointService(planHome);

  /** Makes the records of a plan that is held agree with its files. @throws WaymarkError `RESTORE_INTERRUPTED` */
  function settle(root: Plan): void {
    if (sandboxExists(root)) refuseWithJournal(contextFor(planHome, root, root.sandbox.path));
    settleRollbacks(planHome, root);
  }

  /** Works on a plan while holding it; its records agree with its files first. */
  async function held<T>(plan: Plan, body: (plan: Plan) => Promise<T>): Promise<T> {
    using _hold = holdPlan(home.locks, repository, plan);
    settle(rootOf(repository, plan));
    return body(findPlan(repository, plan.id));
  }

  /** A plan to look at; while another works on it, or where its records can't be written, it is as they say. */
  function seen(plan: Plan): Plan {
    const root = rootOf(repository, plan);
    if (isSettled(planHome, root)) return plan;
    try {
      using _hold = holdPlan(home.locks, repository, root);
      settle(root);
    } catch (error) {
      if (!isWaymarkError(error)) throw error;
    }
    return findPlan(repository, plan.id);
  }

  /** Shows events to who asked for them while `body` goes on. */
  async function shown<T>({ onEvent }: ExecuteOptions, body: () => Promise<T>): Promise<T> {
    const unsubscribe = onEvent === undefined ? undefined : log.subscribe(onEvent);
    try {
      return await body();
    } finally {
      unsubscribe?.();
    }
  }

  const engineFor = (plan: Plan): PlanEngine =>
    createPlanEngine(planHome, home.settings(plan.workspace).settings, environment);

  const named = (plan: string, checkpoint: string) =>
    checkpointOfPlan(planHome.checkpointRecords, repository, findPlan(repository, plan).id, checkpoint);

  async function correct(options: CorrectOptions): Promise<CorrectionResult> {
    const { mode, guidance } = options;
    const { plan: found, decision } = decisionToCorrect(planHome, options);
    if (options.dryRun) {
      const impact = await correctionImpact(planHome, found, decision, options);
      return { ...impact, dryRun: true, correction: undefined };
    }
    return held(found, async (plan) => {
      if (mode === 'append') {
        const correction = appendGuidance(planHome, plan, decision, guidance);
        const impact = await correctionImpact(planHome, plan, decision, options);
        return { ...impact, dryRun: false, correction };
      }
      const { correction, impact } = await revertDecision(planHome, plan, decision, options);
      const root = rootOf(repository, findPlan(repository, plan.id));
      const done = await executeRootPlan(planHome, root, environment, options);
      return { ...impact, plan: done, dryRun: false, correction };
    });
  }

  return {
    checkpoints: {
      createCheckpoint: (request) => checkpoints.createCheckpoint(request),
      listCheckpoints: (filter) => checkpoints.listCheckpoints(filter),
      rollbackToCheckpoint: ({ planId, ...options }) =>
        held(findPlan(repository, planId), (plan) => rollBackPlan(planHome, plan, options)),
    },
    run(options) {
      return shown(options, async () => {
        requireWorkspace?.(options.workspace, options.allowRoot ?? false);
        const { plan, newSession } = await startPlan(planHome, options);
        using _hold = holdPlan(home.locks, repository, plan);
        const done = await executeRootPlan(planHome, plan, environment, options);
        if (newSession && plan.sessionId !== null) home.catalog.endSession(plan.sessionId);
        return done;
      });
    },
    async resume(name, options: ExecuteOptions = {}) {
      const plan = rootOf(repository, findPlan(repository, name));
      refuseEnded(plan);
      return shown(options, () =>
        held(plan, async (present) =>
          present.state === 'complete' ? present : executeRootPlan(planHome, present, environment, options),
        ),
      );
    },
    list: (filter = {}) => repository.plans({ ...filter, parentId: null }).map(seen),
    find: (name) => findPlan(repository, name),
    status(name) {
      const plan = seen(findPlan(repository, name));
      return planStatus(repository, plan, isPlanHeld(home.locks, repository, plan));
    },
    tree: (name) => planTree(repository, planHome.checkpointRecords, seen(findPlan(repository, name))),
    async diff(name) {
      const plan = findPlan(repository, name);
      requireSandbox(plan);
      const context = contextFor(planHome, plan, plan.sandbox.path);
      return diffCheckpoints(context, { from: firstCheckpoint(planHome, plan) });
    },
    async apply(name, options = {}) {
      return held(findPlan(repository, name), (plan) => applyPlan(planHome, engineFor(plan), plan, options));
    },
    async cancel(name) {
      const plan = rootOf(repository, findPlan(repository, name));
      if (!isPlanHeld(home.locks, repository, plan))
        return held(plan, (present) => cancelPlan(planHome, engineFor(present), present));
      log.record({ planId: plan.id, kind: 'cancel_requested' });
      return plan;
    },
    correct: (options) => shown(options, () => correct(options)),
    async rollback({ plan: name, checkpoint, ...options }) {
      return held(findPlan(repository, name), (plan) =>
        rollBackPlan(planHome, plan, { ...options, checkpointId: checkpoint }),
      );
    },
    checkpointOf: (name, checkpoint) => named(name, checkpoint),
    async deleteCheckpoint(name, checkpoint, options) {
      const { checkpointId } = named(name, checkpoint);
      const plan = findPlan(repository, name);
      return deleteCheckpoint(contextFor(planHome, plan, plan.workspace), checkpointId, options);
    },
    [Symbol.dispose]: () => database[Symbol.dispose](),
  };
}

function refuseEnded({ id, state }: Plan): void {
  if (state !== 'applied' && state !== 'cancelled') return;
  throw new WaymarkError('BUSINESS_RULE_VIOLATION', `Resume blocked: plan is ${state} (${id})`);
}

/** What a plan's changes are told against. @throws WaymarkError `CHECKPOINT_NOT_FOUND` */
function firstCheckpoint(planHome: PlanHome, plan: Plan): CheckpointId {
  const { base } = ownerOf(planHome, plan).sandbox;
  if (plan.sandbox.owner === 'own' && base !== null) return base;
  const first = planHome.checkpointRecords.listByPlan(plan.id).at(-1);
  if (first !== undefined) return first.checkpoint_id;
  throw new WaymarkError(
    'CHECKPOINT_NOT_FOUND',
    `Plan ${plan.id} has no checkpoint from before its first step`,
  );
}
