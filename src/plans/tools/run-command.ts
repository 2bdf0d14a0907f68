import { WaymarkError } from '../../domain/errors.ts';
import { type CommandOptions, spawnCommand } from '../../platform/spawn-command.ts';
import { RECORDED_OUTPUT, type ToolContext, type ToolOutcome } from './tool.ts';

export interface StepCommand {
  readonly command: CommandOptions['command'];
  /** for messages */
  readonly name: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input?: Uint8Array;
  readonly timeoutMs?: number | undefined;
}

/**
 * Runs a step's command in a process group of its own, so that a time-out or an abort takes all of it.
 *
 * @throws WaymarkError `COMMAND_FAILED` for a status other than 0, a signal or a time-out (`details`: `exit_code`, `signal`, `timed_out`, `output`);
 * `INTERRUPTED` where `context.signal` was aborted
 */
export async function runCommand(step: StepCommand, context: ToolContext): Promise<ToolOutcome> {
  const output: Buffer[] = [];
  const { exitCode, signal, timedOut } = await spawnCommand({
    command: step.command,
    cwd: step.cwd,
    env: { ...context.environment, ...step.env },
    stdio: 'capture',
    ownGroup: true,
    maxOutputBytes: 1,
    signal: context.signal,
    ...(step.input === undefined ? {} : { input: step.input }),
    ...(step.timeoutMs === undefined ? {} : { timeoutMs: step.timeoutMs }),
    onOutput: (stream, chunk) => {
      keepTail(output, chunk);
      context.onOutput(stream, chunk);
    },
  });
  const text = Buffer.concat(output).subarray(-RECORDED_OUTPUT).toString('utf8');
  if (exitCode === 0 && !timedOut && !context.signal.aborted) return { output: text, exitCode };
  const details = { exit_code: exitCode, signal, timed_out: timedOut, output: text };
  if (context.signal.aborted)
    throw new WaymarkError('INTERRUPTED', `"${step.name}" was interrupted`, { details });
  const why = timedOut
    ? `ran longer than ${step.timeoutMs} ms`
    : signal === null
      ? `exited with status ${exitCode}`
      : `was ended by ${signal}`;
  throw new WaymarkError('COMMAND_FAILED', `"${step.name}" ${why}`, { details });
}

function keepTail(chunks: Buffer[], chunk: Buffer): void {
  chunks.push(chunk);
  if (chunks.length > 64) chunks.splice(0, chunks.length, Buffer.concat(chunks).subarray(-RECORDED_OUTPUT));
}
