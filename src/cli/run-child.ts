import { constants } from 'node:os';
import { isWaymarkError } from '../domain/errors.ts';
import { spawnCommand } from '../platform/spawn-command.ts';
import { exactCommand } from './exact-command.ts';
import { EXIT } from './exit-status.ts';
import { relaySignals, type SignalRelay } from './signal-relay.ts';

export interface ChildOutcome {
  /** its exit status; 128 + n where signal n ended it */
  readonly status: number;
  /** It was stopped rather than done: death by signal, 130, 143, or a signal to us. */
  readonly interrupted: boolean;
}

/** Runs a command in our process group with our streams, signals relayed. */
export async function runChild(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  cwd = '.',
): Promise<ChildOutcome> {
  let relay: SignalRelay | undefined;
  const { exitCode, signal } = await spawnCommand({
    command: { argv: exactCommand(argv) },
    cwd,
    env,
    stdio: 'inherit',
    onStart: (child) => {
      relay = relaySignals(process, child);
    },
  });
  const status = exitCode ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  const interrupted = signal !== null || status === 130 || status === 143 || relay?.signalled === true;
  return { status, interrupted };
}

/** The exit status where the command could not be run, as `env` and `nohup` have it. */
export function childFailureStatus(error: unknown): number {
  if (isWaymarkError(error, 'INTERRUPTED')) return EXIT.interrupted;
  if (!isWaymarkError(error, 'COMMAND_FAILED') || error.details?.['errno'] === undefined)
    return EXIT.execFailed;
  return error.details?.['errno'] === 'ENOENT' ? EXIT.execNotFound : EXIT.execCannotRun;
}
