import type { PlanRepository } from '../../catalog/plans/plan-repository.ts';
import type { Trigger } from '../../config/settings.ts';
import type { Decision } from '../../domain/decision.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { CheckpointId } from '../../domain/ids.ts';
import { type Plan, type RecordedError, recordedError } from '../../domain/plan.ts';
import type { CheckpointService } from '../checkpoints/checkpoint-service.ts';
import type { ParallelStep, PlanDocument, SubplanSandbox, SubplanStep } from '../document/plan-document.ts';
import { newPlan, type RecordSource } from '../records/new-records.ts';
import type { PlanLog } from '../records/plan-log.ts';
import { movePlan } from '../records/plan-phases.ts';
import type { PlanScope } from '../records/plan-scope.ts';
import type { ExecutePlan } from '../records/surroundings.ts';
import type { PlanSandboxes } from '../sandbox/plan-sandboxes.ts';
import type { SandboxResults, Waves } from '../sandbox/sandbox-results.ts';
import { refuseOverlaps } from './lane-overlaps.ts';
import { runLimited } from './run-limited.ts';
import { SubplanDecisions } from './subplan-decisions.ts';

export interface SubplanExecutionServiceOptions extends RecordSource {
  readonly repository: PlanRepository;
  readonly log: PlanLog;
  readonly autoCreateOn: readonly Trigger[];
  readonly sandboxes: PlanSandboxes;
  readonly checkpointService?: CheckpointService;
  /** Missing: subplans with a sandbox of their own are refused. */
  readonly results?: SandboxResults;
  /** Missing: parallel subplans run without a wave. */
  readonly waves?: Waves;
}

/** One subplan on its way: its decision and its plan. */
interface Lane {
  readonly decision: Decision;
  readonly document: PlanDocument;
  readonly plan: Plan;
}

/** Executes subplans, one after another or side by side. Fires `on_subplan_spawn` once for each, before its first attempt. */
export class SubplanExecutionService {
  readonly #options: SubplanExecutionServiceOptions;
  readonly #decisions: SubplanDecisions;

  constructor(options: SubplanExecutionServiceOptions) {
    this.#options = options;
    this.#decisions = new SubplanDecisions(options);
  }

  /** Runs a subplan, again where it fails and may be retried: from the step that failed on. Nothing is thrown for a subplan that fails. */
  async run(scope: PlanScope, step: SubplanStep, queued: Decision, execute: ExecutePlan): Promise<Decision> {
    const decision = this.#decisions.start(queued, await this.#decisions.beforeSpawn(scope, queued));
    return this.#settled(decision, async () => {
      const lane = await this.#lane(scope, decision, step.subplan, step.sandbox);
      const done = await this.#attempts(scope, lane, step.retry, scope.inWave, execute);
      if (done.error !== null) throw failed(lane, done.error);
      await this.#bring(scope, { ...lane, plan: done });
    });
  }

  /** Runs subplans side by side: every `pre_subplan` checkpoint first, then a wave that holds the parent's sandbox, then their results in order. */
  async runParallel(
    scope: PlanScope,
    step: ParallelStep,
    queued: Decision,
    execute: ExecutePlan,
  ): Promise<Decision> {
    const waiting: { readonly decision: Decision; readonly before: CheckpointId | null }[] = [];
    for (const [at, document] of step.parallel.entries()) {
      const decision = this.#decisions.lane(queued, at, `subplan ${document.name}`);
      waiting.push({ decision, before: await this.#decisions.beforeSpawn(scope, decision) });
    }
    const group = this.#decisions.start(queued, waiting[0]?.before ?? null);
    return this.#settled(group, async () => {
      const lanes: Lane[] = [];
      for (const [at, document] of step.parallel.entries()) {
        const lane = waiting[at];
        if (lane === undefined || lane.decision.state === 'complete') continue;
        const decision = this.#decisions.start(lane.decision, lane.before);
        lanes.push(await this.#lane(scope, decision, document, step.sandbox));
      }
      const done = await this.#inWave(scope, lanes, step, execute);
      for (const lane of done) {
        if (lane.plan.error !== null)
          this.#decisions.finish(lane.decision, recordedError(failed(lane, lane.plan.error)));
      }
      const broken = done.find(({ plan }) => plan.error !== null);
      if (broken?.plan.error && !step.continueOnError) throw failed(broken, broken.plan.error);
      await this.#bringAll(
        scope,
        done.filter(({ plan }) => plan.error === null),
      );
      if (broken?.plan.error) throw failed(broken, broken.plan.error);
    });
  }

  async #inWave(
    scope: PlanScope,
    lanes: readonly Lane[],
    step: ParallelStep,
    execute: ExecutePlan,
  ): Promise<readonly Lane[]> {
    const { log, waves } = this.#options;
    const open = lanes.filter(({ plan }) => !isDone(plan));
    if (open.length === 0) return lanes;
    const shared = step.sandbox === 'shared';
    const body = async () => {
      log.record({
        planId: scope.plan.id,
        kind: 'wave_entered',
        data: { subplans: open.map(({ plan }) => plan.id) },
      });
      try {
        return await runLimited(lanes, step.maxParallel ?? lanes.length, async (lane) => {
          if (isDone(lane.plan)) return lane;
          return {
            ...lane,
            plan: await this.#attempts(scope, lane, step.retry, shared || scope.inWave, execute),
          };
        });
      } finally {
        log.record({ planId: scope.plan.id, kind: 'wave_left' });
      }
    };
    return scope.inWave || waves === undefined ? body() : waves.during(scope.plan, scope.root, body);
  }

  /** `inWave` is about the subplan's own sandbox. */
  async #attempts(
    scope: PlanScope,
    { plan }: Lane,
    retry: number,
    inWave: boolean,
    execute: ExecutePlan,
  ): Promise<Plan> {
    const own = plan.sandbox.owner === 'own';
    const surroundings = { ...scope, root: plan.sandbox.path, inWave: own ? false : inWave };
    using _inUse = own ? this.#options.sandboxes.hold(plan) : undefined;
    for (let left = retry; ; left -= 1) {
      const done = isDone(plan) ? plan : await execute(plan, surroundings);
      if (done.error === null || left === 0 || scope.signal.aborted) return done;
    }
  }

  async #settled(decision: Decision, body: () => Promise<void>): Promise<Decision> {
    try {
      await body();
    } catch (error) {
      if (!(error instanceof WaymarkError)) throw error;
      return this.#decisions.finish(decision, recordedError(error));
    }
    return this.#decisions.finish(decision, null);
  }

  /** Finds the plan that the decision spawned, or spawns it, and makes its sandbox ready. */
  async #lane(
    scope: PlanScope,
    decision: Decision,
    document: PlanDocument,
    sandbox: SubplanSandbox,
  ): Promise<Lane> {
    const { repository, sandboxes } = this.#options;
    const present = repository
      .plans({ parentId: scope.plan.id })
      .find((child) => child.parentDecisionId === decision.id && !child.invalidated);
    const plan = present ?? this.#spawn(scope, decision, document, sandbox);
    if (plan.state === 'applied') return { decision, document, plan };
    return { decision, document, plan: await sandboxes.prepare(plan, scope.root) };
  }

  #spawn(scope: PlanScope, decision: Decision, document: PlanDocument, sandbox: SubplanSandbox): Plan {
    const { repository, log, results } = this.#options;
    if (sandbox !== 'shared' && results === undefined) {
      throw new WaymarkError(
        'UNSUPPORTED',
        `Subplan "${document.name}" cannot have a sandbox of its own here`,
        {
          hint: 'Nothing was configured that brings its result back; use sandbox: shared',
        },
      );
    }
    const { plan: parent } = scope;
    const plan = newPlan(this.#options, document, {
      parentId: parent.id,
      parentDecisionId: decision.id,
      workspace: parent.workspace,
      dirHash: parent.dirHash,
      sessionId: parent.sessionId,
      runId: parent.runId,
      sandbox:
        sandbox === 'shared'
          ? { ...parent.sandbox, path: scope.root, owner: 'shared', state: 'ready', base: null }
          : { strategy: sandbox, path: '', owner: 'own', state: 'creating', branch: null, base: null },
    });
    return log.atomically('subplan-spawned', () => {
      repository.addPlan(plan);
      log.record({
        planId: parent.id,
        decisionId: decision.id,
        kind: 'subplan_spawned',
        data: { plan_id: plan.id },
      });
      log.record({ planId: plan.id, kind: 'plan_created', data: { name: plan.name, parent_id: parent.id } });
      return plan;
    });
  }

  /** Brings the results of several lanes into the parent's sandbox, unless two of them disagree. */
  async #bringAll(scope: PlanScope, lanes: readonly Lane[]): Promise<void> {
    const { results } = this.#options;
    const pending = lanes.filter(({ plan }) => plan.sandbox.owner === 'own' && plan.state !== 'applied');
    if (results !== undefined && pending.length > 1) {
      const changed = [];
      for (const { plan } of pending) changed.push({ name: plan.name, changes: await results.changes(plan) });
      refuseOverlaps(changed);
    }
    for (const lane of lanes) {
      await this.#bring(scope, lane);
      this.#decisions.finish(lane.decision, null);
    }
  }

  async #bring(scope: PlanScope, { plan }: Lane): Promise<void> {
    const { repository, log, results } = this.#options;
    if (plan.sandbox.owner === 'shared' || plan.state === 'applied' || results === undefined) return;
    const { changes, skipped } = await results.bring(plan, scope.root);
    const conflicts = skipped.filter(({ reason }) => reason === 'conflict' || reason === 'blocked');
    if (conflicts.length > 0) {
      throw new WaymarkError(
        'BUSINESS_RULE_VIOLATION',
        `The result of subplan "${plan.name}" conflicts with its parent's sandbox: ${conflicts[0]?.path}`,
        { details: { paths: conflicts.map(({ path }) => path) } },
      );
    }
    log.atomically('result-merged', () => {
      log.record({ planId: plan.id, kind: 'result_merged', data: { paths: changes.length } });
      movePlan(repository, log, plan.id, { phase: 'apply', state: 'applied' });
    });
  }
}

function isDone({ state }: Plan): boolean {
  return state === 'complete' || state === 'applied';
}

function failed({ document }: Lane, { code, message, hint }: RecordedError): WaymarkError {
  return new WaymarkError(code as WaymarkError['code'], `Subplan "${document.name}": ${message}`, {
    ...(hint === null ? {} : { hint }),
  });
}
