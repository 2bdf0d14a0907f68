import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { WaymarkError } from '../domain/errors.ts';

export interface CommandOptions {
  /** A program and its arguments, or a line for `/bin/sh -c`. */
  readonly command: { readonly argv: readonly string[] } | { readonly shell: string };
  readonly cwd: string;
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `inherit`: all three streams are ours. `capture`: no input but `input`; output is returned. `ignore`: none. */
  readonly stdio: 'inherit' | 'capture' | 'ignore';
  readonly input?: Uint8Array;
  /** Of each captured stream the last this many bytes are kept (default 1 MiB). */
  readonly maxOutputBytes?: number;
  /** Sees captured output as it comes. */
  readonly onOutput?: (stream: 'stdout' | 'stderr', chunk: Buffer) => void;
  readonly timeoutMs?: number;
  /** The child leads a process group of its own, and a kill takes the whole group. Default: it shares ours. */
  readonly ownGroup?: boolean;
  /** Aborting kills like a time-out. */
  readonly signal?: AbortSignal;
  /** Called once it runs; `kill` sends a signal to the child (or its group). */
  readonly onStart?: (child: RunningCommand) => void;
}

export interface RunningCommand {
  readonly pid: number;
  kill(signal: NodeJS.Signals): void;
}

export interface CommandResult {
  /** null where a signal ended it */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
  readonly stdout?: Buffer;
  readonly stderr?: Buffer;
}

/** ms between SIGTERM and SIGKILL */
const GRACE = 2000;
/** ms for output still in the pipes when the child has ended */
const DRAIN = 500;

/**
 * Runs a command to its end. Any exit status is a result, not an error.
 *
 * @throws WaymarkError `COMMAND_FAILED` where it cannot be started, with `details.errno` (`ENOENT`: no such program; `EACCES`, `ENOEXEC`…: not runnable);
 * `PATH_NOT_FOUND` where `cwd` is no directory
 */
export function spawnCommand(options: CommandOptions): Promise<CommandResult> {
  const { command, cwd } = options;
  const [program = '', ...args] = 'argv' in command ? command.argv : ['/bin/sh', '-c', command.shell];
  return new Promise((resolve, reject) => {
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
      reject(new WaymarkError('PATH_NOT_FOUND', `Cannot run "${program}" in ${cwd}: not a directory`));
      return;
    }
    let child: ChildProcess;
    try {
      child = spawn(program, args, spawnOptions(options));
    } catch (error) {
      reject(startError(program, error));
      return;
    }
    child.once('error', (error) => {
      if (child.pid === undefined) reject(startError(program, error));
    });
    if (child.pid === undefined) return;
    follow(child, child.pid, options, resolve);
  });
}

function spawnOptions({ cwd, env, stdio, input, ownGroup = false }: CommandOptions): SpawnOptions {
  const streams: SpawnOptions['stdio'] =
    stdio === 'capture' ? [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'] : stdio;
  return { cwd, env: env as NodeJS.ProcessEnv, stdio: streams, detached: ownGroup };
}

function follow(
  child: ChildProcess,
  pid: number,
  options: CommandOptions,
  resolve: (result: CommandResult) => void,
): void {
  const { stdio, input, timeoutMs, ownGroup = false, signal: abort, maxOutputBytes = 1024 ** 2 } = options;
  const timers: NodeJS.Timeout[] = [];
  let timedOut = false;
  let stopped = false;
  const kill = (signal: NodeJS.Signals) => {
    if (ownGroup) killGroup(pid, signal);
    else child.kill(signal);
  };
  const stop = () => {
    stopped = true;
    kill('SIGTERM');
    timers.push(setTimeout(() => kill('SIGKILL'), GRACE));
  };
  if (timeoutMs !== undefined) {
    const onTimeout = () => {
      timedOut = true;
      stop();
    };
    timers.push(setTimeout(onTimeout, timeoutMs));
  }
  if (abort?.aborted) stop();
  else abort?.addEventListener('abort', stop, { once: true });

  const stdout = new OutputTail(maxOutputBytes);
  const stderr = new OutputTail(maxOutputBytes);
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout.add(chunk);
    options.onOutput?.('stdout', chunk);
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr.add(chunk);
    options.onOutput?.('stderr', chunk);
  });
  // A child that does not read its input is no failure.
  child.stdin?.on('error', () => {});
  if (input !== undefined) child.stdin?.end(input);

  child.once('exit', () => {
    // A background process may keep the pipes open for ever.
    const drain = () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    };
    timers.push(setTimeout(drain, DRAIN));
    abort?.removeEventListener('abort', stop);
  });
  child.once('close', (exitCode, signal) => {
    for (const timer of timers) clearTimeout(timer);
    // Members that outlive their leader's SIGTERM get no second chance.
    if (stopped && ownGroup) killGroup(pid, 'SIGKILL');
    const output = stdio === 'capture' ? { stdout: stdout.bytes(), stderr: stderr.bytes() } : {};
    resolve({ exitCode, signal, timedOut, ...output });
  });
  options.onStart?.({ pid, kill });
}

class OutputTail {
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length > 2 * this.#limit) {
      const kept = this.bytes();
      this.#chunks = [kept];
      this.#length = kept.length;
    }
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks).subarray(-this.#limit);
  }
}

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function startError(program: string, error: unknown): WaymarkError {
  const errno = (error as NodeJS.ErrnoException).code ?? 'UNKNOWN';
  const why = errno === 'ENOENT' ? 'no such program' : (error as Error).message;
  return new WaymarkError('COMMAND_FAILED', `Cannot run "${program}": ${why}`, {
    cause: error,
    details: { errno },
  });
}
