import type { PlanRepository } from '../../catalog/plans/plan-repository.ts';
import type { Trigger } from '../../config/settings.ts';
import type { Decision } from '../../domain/decision.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { CheckpointId } from '../../domain/ids.ts';
import { recordedError } from '../../domain/plan.ts';
import { type Clock, isoTime } from '../../platform/clock.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import { AutomaticCheckpoints } from '../checkpoints/automatic-checkpoints.ts';
import type { CheckpointService } from '../checkpoints/checkpoint-service.ts';
import type { ToolStep } from '../document/plan-document.ts';
import type { PlanLog } from '../records/plan-log.ts';
import type { PlanScope } from '../records/plan-scope.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import { builtInTools, type ToolFor } from '../tools/tools.ts';
import { stepEnvironment } from './step-environment.ts';
import type { NoteStep } from './step-operations.ts';

export interface ToolRunnerOptions {
  readonly repository: PlanRepository;
  readonly log: PlanLog;
  readonly clock: Clock;
  readonly ids: { ulid(): string };
  readonly fs: FileSystem;
  /** real paths of directories that file tools leave alone: `WAYMARK_HOME` */
  readonly forbidden?: readonly string[];
  /** configured agent commands by name */
  readonly agents: Readonly<Record<string, readonly string[]>>;
  readonly autoCreateOn: readonly Trigger[];
  readonly checkpointService?: CheckpointService;
  readonly tools?: ToolFor;
  /** Told of each step that has ended, with the checkpoints on either side. */
  readonly noteStep?: NoteStep;
}

/** One execution of a tool and how it went. */
type Attempt =
  | { readonly ok: true; readonly outcome: ToolOutcome }
  | { readonly ok: false; readonly error: WaymarkError };

/**
 * Executes tool steps: `started` is durable before the side effect, the end is durable before the checkpoint that follows. Fires
 * `on_tool_write` before each execution of a writing tool and `on_tool_write_complete` after it, also when it failed.
 */
export class ToolRunner {
  readonly #options: ToolRunnerOptions;
  readonly #tools: ToolFor;
  readonly #automatic: AutomaticCheckpoints;

  constructor(options: ToolRunnerOptions) {
    this.#options = options;
    this.#tools = options.tools ?? builtInTools;
    this.#automatic = new AutomaticCheckpoints({
      checkpointService: options.checkpointService,
      autoCreateOn: options.autoCreateOn,
      log: options.log,
    });
  }

  /** Runs the step, again where it fails and may be retried. The decision returned is `complete` or `errored`; nothing is thrown for a step that fails. */
  async run(scope: PlanScope, step: ToolStep, queued: Decision): Promise<Decision> {
    let decision = queued;
    let first: CheckpointId | null = null;
    for (let left = step.retry; ; left -= 1) {
      const before = await this.#fire('on_tool_write', scope, step, decision, decision.attempts + 1);
      first ??= before;
      decision = this.#started(step, decision, before);
      const attempt = await this.#attempt(scope, step, decision);
      const again = !attempt.ok && left > 0 && !scope.signal.aborted && attempt.error.code !== 'UNSAFE_PATH';
      decision = this.#finished(decision, attempt, again);
      const after = await this.#fire(
        'on_tool_write_complete',
        scope,
        step,
        decision,
        decision.attempts,
        attempt.ok,
      );
      if (after !== null)
        decision = this.#options.repository.changeDecision(decision.id, { checkpointAfter: after });
      if (again) continue;
      await this.#options.noteStep?.(scope.plan, decision, first, after);
      return decision;
    }
  }

  async #attempt(scope: PlanScope, step: ToolStep, decision: Decision): Promise<Attempt> {
    const { fs, agents, log } = this.#options;
    try {
      const outcome = await this.#tools(step).run(step, {
        root: scope.root,
        fs,
        forbidden: this.#options.forbidden ?? [],
        environment: stepEnvironment(scope, decision),
        agents,
        guidance: scope.guidance,
        signal: scope.signal,
        onOutput: (stream, chunk) =>
          log.show({
            planId: decision.planId,
            decisionId: decision.id,
            kind: 'output',
            data: { stream, text: chunk.toString('utf8') },
          }),
      });
      return { ok: true, outcome };
    } catch (error) {
      return { ok: false, error: asWaymarkError(error) };
    }
  }

  #started(step: ToolStep, decision: Decision, before: CheckpointId | null): Decision {
    const { repository, log, ids } = this.#options;
    const { id, planId, title } = decision;
    const attempt = decision.attempts + 1;
    return log.atomically('step-started', () => {
      const event = log.record({ planId, decisionId: id, kind: 'step_started', data: { attempt, title } });
      repository.addToolCall({
        id: ids.ulid(),
        decisionId: id,
        attempt,
        tool: step.tool,
        startedAt: event.at,
        finishedAt: null,
        succeeded: null,
        exitCode: null,
        output: '',
        error: null,
      });
      return repository.changeDecision(id, {
        state: 'processing',
        attempts: attempt,
        checkpointBefore: before,
        startedAt: decision.startedAt ?? event.at,
        startedSeq: decision.startedSeq ?? event.seq,
        finishedAt: null,
        finishedSeq: null,
        error: null,
      });
    });
  }

  #finished(decision: Decision, attempt: Attempt, again: boolean): Decision {
    const { repository, log, clock } = this.#options;
    const { id, planId } = decision;
    const { exitCode, output } = attempt.ok ? attempt.outcome : failureOf(attempt.error);
    const error = attempt.ok ? null : recordedError(attempt.error);
    return log.atomically('step-finished', () => {
      const call = repository.toolCalls(id).at(-1);
      const finishedAt = isoTime(clock.now());
      if (call !== undefined)
        repository.changeToolCall(call.id, { finishedAt, succeeded: attempt.ok, exitCode, output, error });
      const event = log.record({
        planId,
        decisionId: id,
        kind: 'step_finished',
        data: { attempt: decision.attempts, succeeded: attempt.ok, again, exit_code: exitCode, error },
      });
      if (again) return repository.changeDecision(id, { error });
      return repository.changeDecision(id, {
        state: attempt.ok ? 'complete' : 'errored',
        finishedAt: event.at,
        finishedSeq: event.seq,
        error,
      });
    });
  }

  async #fire(
    trigger: Trigger,
    scope: PlanScope,
    step: ToolStep,
    decision: Decision,
    attempt: number,
    succeeded?: boolean,
  ): Promise<CheckpointId | null> {
    if (!this.#tools(step).writes) return null;
    return this.#automatic.fire({
      trigger,
      planId: decision.planId,
      decisionId: decision.id,
      sourceTool: step.tool,
      inWave: scope.inWave,
      extra: { attempt, ...(succeeded === undefined ? {} : { succeeded }) },
    });
  }
}

function failureOf({ message, details }: WaymarkError): {
  readonly exitCode: number | null;
  readonly output: string;
} {
  const { exit_code: exitCode, output } = details ?? {};
  return {
    exitCode: typeof exitCode === 'number' ? exitCode : null,
    output: typeof output === 'string' ? output : message,
  };
}

function asWaymarkError(error: unknown): WaymarkError {
  if (error instanceof WaymarkError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const known =
    code === 'ENOSPC' ? 'NO_SPACE' : code === 'EACCES' || code === 'EPERM' ? 'PERMISSION_DENIED' : undefined;
  return new WaymarkError(known ?? (code === undefined ? 'INTERNAL' : 'IO_ERROR'), message, { cause: error });
}
