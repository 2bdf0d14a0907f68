import type { PlanRepository } from '../../catalog/plans/plan-repository.ts';
import type { Trigger } from '../../config/settings.ts';
import type { Decision } from '../../domain/decision.ts';
import { isWaymarkError, WaymarkError } from '../../domain/errors.ts';
import { type Plan, recordedError } from '../../domain/plan.ts';
import { refuseAborted } from '../../domain/refuse-aborted.ts';
import { AutomaticCheckpoints } from '../checkpoints/automatic-checkpoints.ts';
import type { CheckpointService } from '../checkpoints/checkpoint-service.ts';
import { type PlanDocument, type Step, titleOf } from '../document/plan-document.ts';
import { documentOf, newDecision, type RecordSource } from '../records/new-records.ts';
import type { PlanLog } from '../records/plan-log.ts';
import { movePlan } from '../records/plan-phases.ts';
import type { PlanScope } from '../records/plan-scope.ts';
import type { Surroundings } from '../records/surroundings.ts';
import type { SubplanExecutionService } from './subplan-execution-service.ts';
import type { ToolRunner } from './tool-runner.ts';

const INTERRUPTED = 'The plan was interrupted';

/** Takes a step that began and whose end nobody saw back to its checkpoint. True where that was done, false where there is none. */
export type TakeBackStep = (decision: Decision) => Promise<boolean>;

export interface PlanExecutorOptions extends RecordSource {
  readonly repository: PlanRepository;
  readonly log: PlanLog;
  readonly autoCreateOn: readonly Trigger[];
  readonly toolRunner: ToolRunner;
  readonly subplans: SubplanExecutionService;
  readonly checkpointService?: CheckpointService;
  readonly takeBackStep?: TakeBackStep;
  /** Asked before a step that began runs again although it could not be taken back. Missing: it does not. */
  readonly mayRepeat?: (decision: Decision) => Promise<boolean>;
}

/** Executes a plan step by step, or what is left of it. Fires `on_error` when the execute phase fails. */
export class PlanExecutor {
  readonly #options: PlanExecutorOptions;
  readonly #automatic: AutomaticCheckpoints;

  constructor(options: PlanExecutorOptions) {
    this.#options = options;
    this.#automatic = new AutomaticCheckpoints({
      checkpointService: options.checkpointService,
      autoCreateOn: options.autoCreateOn,
      log: options.log,
    });
  }

  /**
   * Brings the plan to `complete` or `errored` and gives its record. Steps that are complete are not run again.
   *
   * @throws only what is no WaymarkError, after recording it
   */
  async execute(plan: Plan, surroundings: Surroundings): Promise<Plan> {
    const { repository, log } = this.#options;
    const processing = movePlan(repository, log, plan.id, { phase: 'execute', state: 'processing' });
    try {
      await this.#steps(processing, surroundings);
      return movePlan(repository, log, plan.id, { phase: 'execute', state: 'complete' });
    } catch (error) {
      const failure = isWaymarkError(error)
        ? error
        : new WaymarkError('INTERNAL', String(error), { cause: error });
      const errored = { phase: 'execute', state: 'errored', error: recordedError(failure) } as const;
      movePlan(repository, log, plan.id, errored);
      await this.#automatic.fire({
        trigger: 'on_error',
        planId: plan.id,
        inWave: surroundings.inWave,
        extra: { error: failure.code },
      });
      if (!isWaymarkError(error)) throw error;
      return repository.plan(plan.id) ?? processing;
    }
  }

  async #steps(plan: Plan, surroundings: Surroundings): Promise<void> {
    const document = documentOf(plan);
    for (const [at, step] of document.steps.entries()) {
      refuseAborted(surroundings.signal, INTERRUPTED);
      const present = this.#present(plan, at);
      if (present?.state === 'complete') continue;
      if (present?.state === 'errored' && step.continueOnError) continue;
      const decision = await this.#begin(plan, at, step, present);
      const done = await this.#run(this.#scope(plan, document, surroundings), step, decision);
      refuseAborted(surroundings.signal, INTERRUPTED);
      if (done.state !== 'complete' && !step.continueOnError) throw stepFailed(at, done);
    }
  }

  async #run(scope: PlanScope, step: Step, decision: Decision): Promise<Decision> {
    const { toolRunner, subplans } = this.#options;
    const execute = this.execute.bind(this);
    if ('tool' in step) return toolRunner.run(scope, step, decision);
    const limit = step.timeoutMs === undefined ? undefined : AbortSignal.timeout(step.timeoutMs);
    const limited =
      limit === undefined ? scope : { ...scope, signal: AbortSignal.any([scope.signal, limit]) };
    const done =
      'subplan' in step
        ? await subplans.run(limited, step, decision, execute)
        : await subplans.runParallel(limited, step, decision, execute);
    const late = done.state === 'errored' && limit?.aborted && !scope.signal.aborted;
    return late ? this.#ranTooLong(done, step) : done;
  }

  #ranTooLong(decision: Decision, { timeoutMs }: Step): Decision {
    const message = `"${decision.title}" ran longer than ${timeoutMs} ms`;
    const error = { code: 'COMMAND_FAILED', message, hint: null };
    return this.#options.repository.changeDecision(decision.id, { error });
  }

  /** The decision to run a step under: the present one, or a new one where there is none or it was taken back. */
  async #begin(plan: Plan, at: number, step: Step, present: Decision | undefined): Promise<Decision> {
    if (present === undefined) return this.#queue(plan, at, step);
    if (!('tool' in step) || present.state !== 'processing') return present;
    const { takeBackStep, mayRepeat } = this.#options;
    if (await takeBackStep?.(present)) return this.#queue(plan, at, step);
    if (mayRepeat === undefined) throw unfinished(at, present);
    if (await mayRepeat(present)) return present;
    throw new WaymarkError('DECLINED', `Declined: step ${at + 1} (${present.title}) does not run again`);
  }

  #queue(plan: Plan, at: number, step: Step): Decision {
    const { repository, log } = this.#options;
    const kind = 'tool' in step ? step.tool : 'subplan' in step ? 'subplan' : 'parallel';
    const title = titleOf(step);
    const about = {
      planId: plan.id,
      parentId: plan.parentDecisionId,
      step: at,
      lane: null,
      kind,
      title,
    } as const;
    const decision = newDecision(this.#options, about);
    return log.atomically('step-queued', () => {
      repository.addDecision(decision);
      log.record({
        planId: plan.id,
        decisionId: decision.id,
        kind: 'step_queued',
        data: { step: at, title },
      });
      return decision;
    });
  }

  #present(plan: Plan, at: number): Decision | undefined {
    return this.#options.repository
      .decisions(plan.id)
      .find(({ step, lane, mark }) => step === at && lane === null && mark === null);
  }

  #scope(plan: Plan, document: PlanDocument, surroundings: Surroundings): PlanScope {
    const corrections = this.#options.repository.corrections(plan.id);
    const guidance = [
      ...surroundings.guidance,
      ...document.guidance,
      ...corrections.map((one) => one.guidance),
    ];
    return { ...surroundings, plan, document, guidance };
  }
}

function stepFailed(at: number, { title, error }: Decision): WaymarkError {
  const code = (error?.code ?? 'COMMAND_FAILED') as WaymarkError['code'];
  const hint = error?.hint ?? undefined;
  return new WaymarkError(code, `Step ${at + 1} (${title}) failed: ${error?.message ?? 'unknown error'}`, {
    ...(hint === undefined ? {} : { hint }),
  });
}

function unfinished(at: number, { id, title }: Decision): WaymarkError {
  return new WaymarkError(
    'CONFIRMATION_REQUIRED',
    `Step ${at + 1} (${title}, ${id}) began and did not finish, and there is no checkpoint from before it`,
    { hint: 'Look at what it left behind; --yes runs it again' },
  );
}
