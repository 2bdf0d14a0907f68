import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { WaymarkError } from '../domain/errors.ts';
import { feed } from './feed.ts';
import { gitArguments, gitEnvironment } from './git-environment.ts';
import { gitFailed } from './git-failure.ts';

/** One git command. Paths are absolute; arguments must be well-formed strings (bytes go through `input`). */
export interface GitCommand {
  /** subcommand and its arguments */
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly gitDir?: string;
  readonly workTree?: string;
  readonly indexFile?: string;
  readonly input?: Uint8Array | string | AsyncIterable<Uint8Array>;
  /** additional variables; they win */
  readonly env?: Readonly<Record<string, string>>;
  /** exit codes besides 0 that do not throw */
  readonly allowExitCodes?: readonly number[];
  readonly signal?: AbortSignal;
  /** For a repository of our own: nothing the user, the system or the environment configured has any effect. */
  readonly isolated?: boolean;
}

export interface GitOutput {
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly exitCode: number;
}

/** A git process that lives on, with piped standard input and output. */
export interface GitProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Settles when the process has ended and its output is closed; rejects with `GIT_NOT_FOUND` or `IO_ERROR` where it could not start. */
  readonly ended: Promise<{ readonly exitCode: number; readonly stderr: string }>;
  /** Lets this process, or not, keep ours alive. */
  keepAlive(wanted: boolean): void;
  kill(): void;
}

/** The one way to run git. The environment's `GIT_*` variables never reach it, and it never runs hooks or an fsmonitor. */
export interface Git {
  /**
   * Runs a command to its end; output of any size.
   *
   * @throws WaymarkError `GIT_NOT_FOUND`; `GIT_FAILED` for an exit code that is neither 0 nor allowed, `NO_SPACE` where a full disk is why; `INTERRUPTED` on `signal`
   */
  run(command: GitCommand): Promise<GitOutput>;
  /** Starts a long-lived command such as `cat-file --batch`; `input` and `allowExitCodes` are not used. */
  start(command: GitCommand): GitProcess;
  /** Tells whether there is a git to run. */
  isAvailable(): boolean;
  /** Version as git prints it, such as `2.39.5`. Throws `GIT_NOT_FOUND`. */
  version(): Promise<string>;
}

/** Lets the process find git in the absolute directories of `environment.PATH` only: a relative one would mean the workspace's. */
export function createGit(environment: Readonly<Record<string, string | undefined>>): Git {
  const { PATH } = environment;
  const path = absoluteDirectories(PATH);
  let program: string | undefined;

  function launch(command: GitCommand): ChildProcessByStdio<Writable, Readable, Readable> {
    for (const argument of command.args) {
      if (!argument.isWellFormed() || argument.includes('\0')) {
        throw new WaymarkError(
          'UNSUPPORTED',
          `git ${command.args[0]} cannot be given a name that is not UTF-8`,
        );
      }
    }
    program ??= findProgram('git', path);
    if (program === undefined) throw gitNotFound();
    if (command.signal?.aborted) throw interrupted(command);
    return spawn(program, gitArguments(command), {
      cwd: command.cwd ?? '/',
      env: gitEnvironment(environment, path, command),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  }

  function start(command: GitCommand): GitProcess {
    const child = launch(command);
    const stderr = collectTail(child.stderr);
    const abort = () => child.kill('SIGTERM');
    command.signal?.addEventListener('abort', abort, { once: true });
    const ended = new Promise<{ exitCode: number; stderr: string }>((resolve, reject) => {
      child.on('error', (cause: NodeJS.ErrnoException) => reject(startError(command, cause)));
      child.on('close', (code, signal) => {
        command.signal?.removeEventListener('abort', abort);
        resolve({ exitCode: code ?? 128, stderr: stderr() || (signal ? `killed by ${signal}` : '') });
      });
    });
    ended.catch(() => undefined);
    child.stdin.on('error', () => undefined);
    return {
      stdin: child.stdin,
      stdout: child.stdout,
      ended,
      keepAlive: (wanted) => {
        for (const part of [child, child.stdin, child.stdout, child.stderr]) setReferenced(part, wanted);
      },
      kill: () => child.kill('SIGKILL'),
    };
  }

  async function run(command: GitCommand): Promise<GitOutput> {
    const process = start(command);
    const chunks: Buffer[] = [];
    process.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    let inputError: unknown;
    const feeding = feed(process.stdin, command.input).catch((error: unknown) => {
      inputError = error;
      process.kill();
    });
    const { exitCode, stderr } = await process.ended;
    process.stdin.destroy();
    await feeding;
    if (inputError !== undefined) throw inputError;
    if (command.signal?.aborted) throw interrupted(command);
    if (exitCode !== 0 && !command.allowExitCodes?.includes(exitCode)) {
      throw gitFailed(command.args, exitCode, stderr, command.gitDir ?? command.cwd);
    }
    return { stdout: Buffer.concat(chunks), stderr, exitCode };
  }

  return {
    run,
    start,
    isAvailable: () => findProgram('git', path) !== undefined,
    version: async () => {
      const { stdout } = await run({ args: ['version'], isolated: true });
      return stdout
        .toString('utf8')
        .replace(/^git version /, '')
        .trim();
    },
  };
}

function gitNotFound(cause?: unknown): WaymarkError {
  return new WaymarkError('GIT_NOT_FOUND', 'The program git was not found', {
    hint: 'Install git, or use the default engine, which works without it: --store cas',
    cause,
  });
}

function startError(command: GitCommand, cause: NodeJS.ErrnoException): WaymarkError {
  if (cause.code !== 'ENOENT' && cause.code !== 'EACCES') {
    return new WaymarkError('IO_ERROR', `Cannot start git: ${cause.message}`, { cause });
  }
  const cwd = command.cwd;
  if (cwd !== undefined && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return new WaymarkError('IO_ERROR', `Cannot run git in "${cwd}": no such directory`, { cause });
  }
  return gitNotFound(cause);
}

function interrupted(command: GitCommand): WaymarkError {
  return new WaymarkError('INTERRUPTED', `git ${command.args[0]} was interrupted`);
}

function absoluteDirectories(path: string | undefined): readonly string[] {
  return (path ?? '/usr/local/bin:/usr/bin:/bin').split(delimiter).filter((entry) => isAbsolute(entry));
}

function findProgram(name: string, directories: readonly string[]): string | undefined {
  for (const directory of directories) {
    const candidate = join(directory, name);
    try {
      accessSync(candidate, constants.X_OK);
      if (statSync(candidate).isFile()) return candidate;
    } catch {
      // not here
    }
  }
  return undefined;
}

const STDERR_TAIL = 64 * 1024;

function collectTail(stream: Readable): () => string {
  let tail: Buffer = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-STDERR_TAIL);
  });
  return () => tail.toString('utf8');
}

function setReferenced(part: object, wanted: boolean): void {
  const handle = part as { ref?: () => void; unref?: () => void };
  if (wanted) handle.ref?.();
  else handle.unref?.();
}
