import type { Trigger } from '../../config/settings.ts';
import type { CheckpointType } from '../../domain/checkpoint.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { CheckpointId, DecisionId, PlanId } from '../../domain/ids.ts';
import type { PlanLog } from '../records/plan-log.ts';
import type { CheckpointService } from './checkpoint-service.ts';

const TYPES: Readonly<Record<Trigger, CheckpointType>> = {
  on_tool_write: 'pre_write',
  on_tool_write_complete: 'post_step',
  on_subplan_spawn: 'pre_subplan',
  on_error: 'on_error',
};

/** Why a checkpoint is taken, and of what. */
export interface TriggerMoment {
  readonly trigger: Trigger;
  readonly planId: PlanId;
  readonly decisionId?: DecisionId;
  readonly sourceTool?: string;
  /** a wave holds the sandbox, so nothing can be taken */
  readonly inWave: boolean;
  readonly extra?: Readonly<Record<string, unknown>>;
}

export interface AutomaticCheckpointsOptions {
  readonly checkpointService: CheckpointService | undefined;
  /** triggers that are on */
  readonly autoCreateOn: readonly Trigger[];
  readonly log: PlanLog;
}

/** Takes the checkpoints of the four triggers. One that can't be taken never fails the step: it is recorded. */
export class AutomaticCheckpoints {
  readonly #service: CheckpointService | undefined;
  readonly #on: ReadonlySet<Trigger>;
  readonly #log: PlanLog;

  constructor({ checkpointService, autoCreateOn, log }: AutomaticCheckpointsOptions) {
    this.#service = checkpointService;
    this.#on = new Set(autoCreateOn);
    this.#log = log;
  }

  /** Gives the checkpoint, or null where none was taken. */
  async fire(moment: TriggerMoment): Promise<CheckpointId | null> {
    const { trigger, planId, decisionId } = moment;
    if (this.#service === undefined || !this.#on.has(trigger)) return null;
    const about = {
      planId,
      ...(decisionId === undefined ? {} : { decisionId }),
    };
    const type = TYPES[trigger];
    if (moment.inWave) {
      const data = { trigger, checkpoint_type: type, reason: 'wave' };
      this.#log.record({ ...about, kind: 'checkpoint_skipped', data });
      return null;
    }
    try {
      const { checkpointId } = await this.#service.createCheckpoint({
        ...about,
        checkpointType: type,
        metadata: {
          phase: 'execute',
          ...(moment.sourceTool === undefined ? {} : { sourceTool: moment.sourceTool }),
          extra: { trigger, ...moment.extra },
        },
      });
      return checkpointId;
    } catch (error) {
      this.#log.record({
        ...about,
        kind: 'checkpoint_failed',
        data: { trigger, checkpoint_type: type, ...describe(error) },
      });
      return null;
    }
  }
}

function describe(error: unknown) {
  const code = error instanceof WaymarkError ? error.code : 'INTERNAL';
  return { reason: code, message: error instanceof Error ? error.message : String(error) };
}
