import type { PlanRepository } from '../../catalog/plans/plan-repository.ts';
import type { Trigger } from '../../config/settings.ts';
import type { Decision } from '../../domain/decision.ts';
import type { CheckpointId } from '../../domain/ids.ts';
import type { RecordedError } from '../../domain/plan.ts';
import { AutomaticCheckpoints } from '../checkpoints/automatic-checkpoints.ts';
import type { CheckpointService } from '../checkpoints/checkpoint-service.ts';
import { newDecision, type RecordSource } from '../records/new-records.ts';
import type { PlanLog } from '../records/plan-log.ts';
import type { PlanScope } from '../records/plan-scope.ts';

export interface SubplanDecisionsOptions extends RecordSource {
  readonly repository: PlanRepository;
  readonly log: PlanLog;
  readonly autoCreateOn: readonly Trigger[];
  readonly checkpointService?: CheckpointService;
}

/** Records of decisions that spawn subplans. Fires `on_subplan_spawn` before the first attempt of each. */
export class SubplanDecisions {
  readonly #options: SubplanDecisionsOptions;
  readonly #automatic: AutomaticCheckpoints;

  constructor(options: SubplanDecisionsOptions) {
    this.#options = options;
    this.#automatic = new AutomaticCheckpoints({
      checkpointService: options.checkpointService,
      autoCreateOn: options.autoCreateOn,
      log: options.log,
    });
  }

  /** Gives the `pre_subplan` checkpoint, or null where none is due or possible. */
  async beforeSpawn(
    { inWave }: PlanScope,
    { planId, id, startedSeq }: Decision,
  ): Promise<CheckpointId | null> {
    if (startedSeq !== null) return null;
    return this.#automatic.fire({ trigger: 'on_subplan_spawn', planId, decisionId: id, inWave });
  }

  /** Marks a decision as under way, for the first time or again. */
  start(decision: Decision, before: CheckpointId | null): Decision {
    const { repository, log } = this.#options;
    const { id, planId, title } = decision;
    const attempts = decision.attempts + 1;
    return log.atomically('subplan-started', () => {
      const data = { attempt: attempts, title };
      const event = log.record({ planId, decisionId: id, kind: 'step_started', data });
      return repository.changeDecision(id, {
        state: 'processing',
        attempts,
        checkpointBefore: before ?? decision.checkpointBefore,
        startedAt: decision.startedAt ?? event.at,
        startedSeq: decision.startedSeq ?? event.seq,
        finishedAt: null,
        finishedSeq: null,
        error: null,
      });
    });
  }

  finish({ id, planId }: Decision, error: RecordedError | null): Decision {
    const { repository, log } = this.#options;
    return log.atomically('subplan-finished', () => {
      const data = { succeeded: error === null, error };
      const event = log.record({ planId, decisionId: id, kind: 'step_finished', data });
      return repository.changeDecision(id, {
        state: error === null ? 'complete' : 'errored',
        finishedAt: event.at,
        finishedSeq: event.seq,
        error,
      });
    });
  }

  /** The decision of one subplan of a parallel group; made where it is not there yet. */
  lane({ id, planId, step }: Decision, lane: number, title: string): Decision {
    const { repository, log } = this.#options;
    const present = repository
      .decisions(planId)
      .find((known) => known.step === step && known.lane === lane && known.mark === null);
    if (present !== undefined) return present;
    const decision = newDecision(this.#options, { planId, parentId: id, step, lane, kind: 'subplan', title });
    return log.atomically('lane-queued', () => {
      repository.addDecision(decision);
      log.record({ planId, decisionId: decision.id, kind: 'step_queued', data: { step, lane, title } });
      return decision;
    });
  }
}
