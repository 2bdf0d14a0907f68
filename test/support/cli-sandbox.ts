import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

const REPOSITORY = join(import.meta.dirname, '../..');
export const SOURCE_BIN = join(REPOSITORY, 'src', 'cli', 'bin.ts');
/** What the tests run: the sources, or in `npm test` what was built from them. */
export const BIN = process.env['WAYMARK_TEST_BIN'] ?? SOURCE_BIN;
const PTY = join(import.meta.dirname, 'on-terminal.py');
/** Compiled code is shared between tests: it is no state of Waymark. */
const COMPILED = join(tmpdir(), `waymark-test-compiled-${process.getuid?.() ?? 0}`);

export interface CliOutput {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
  /** sees the process while it runs */
  readonly during?: (child: ChildProcess) => void | Promise<void>;
}

/** A place for one test: HOME, WAYMARK_HOME and a workspace, all fresh; removed afterwards. */
export interface CliSandbox {
  readonly base: string;
  readonly home: string;
  readonly work: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Runs `waymark` without a terminal. */
  run(args: readonly string[], options?: CliOptions): Promise<CliOutput>;
  /** Runs it, expects the status, gives standard output. */
  ok(args: readonly string[], options?: CliOptions & { readonly status?: number }): Promise<string>;
  /** The same with `--format json`, parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was printed
  json(args: readonly string[], options?: CliOptions & { readonly status?: number }): Promise<any>;
  /** Runs it on a terminal, answering as told (after a shell command, if one is given); `stdout` is what the terminal showed. */
  terminal(
    args: readonly string[],
    steps?: readonly (readonly [text: string, keys: string, shell?: string])[],
    options?: CliOptions,
  ): Promise<CliOutput>;
  write(path: string, text: string | Uint8Array, mode?: number): void;
  read(path: string): string;
  exists(path: string): boolean;
  /** Names below the workspace, sorted, directories with a slash. */
  tree(): readonly string[];
}

export function cliSandbox(): CliSandbox {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-cli-')));
  const home = join(base, 'home', 'waymark');
  const work = join(base, 'work');
  mkdirSync(join(base, 'home'));
  mkdirSync(work);
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(?:WAYMARK_|GIT_|XDG_|NODE_|NO_COLOR|FORCE_COLOR|VITEST|CI$|TERM)/.test(name),
  );
  const env = {
    ...Object.fromEntries(inherited),
    HOME: join(base, 'home'),
    WAYMARK_HOME: home,
    XDG_CACHE_HOME: COMPILED,
    TERM: 'xterm',
  };
  const at = (path: string) => join(work, path);
  const run: CliSandbox['run'] = (args, options) =>
    runProgram(process.execPath, [BIN, ...args], { cwd: work, ...options, env: { ...env, ...options?.env } });
  const ok: CliSandbox['ok'] = async (args, options) => {
    const output = await run(args, options);
    const wanted = options?.status ?? 0;
    if (output.status !== wanted) {
      throw new Error(
        `waymark ${args.join(' ')} ended with ${output.status ?? output.signal}, not ${wanted}\n${output.stdout}${output.stderr}`,
      );
    }
    return output.stdout;
  };
  return {
    base,
    home,
    work,
    env,
    run,
    ok,
    json: async (args, options) => {
      const end = args.indexOf('--');
      const words = end < 0 ? [...args, '--format', 'json'] : args.toSpliced(end, 0, '--format', 'json');
      return JSON.parse(await ok(words, options)) as unknown;
    },
    terminal: (args, steps = [], options = {}) => {
      const environment = JSON.stringify({ ...env, ...options.env });
      const command = [process.execPath, BIN, ...args];
      return runProgram('python3', [PTY, environment, JSON.stringify(steps), ...command], {
        cwd: work,
        ...options,
        env: process.env,
      });
    },
    write(path, text, mode) {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), text);
      if (mode !== undefined) chmodSync(at(path), mode);
    },
    read: (path) => readFileSync(at(path), 'utf8'),
    exists: (path) => existsSync(at(path)),
    tree: () =>
      readdirSync(work, { recursive: true, encoding: 'utf8' })
        .map((path) => (lstatSync(at(path)).isDirectory() ? `${path}/` : path))
        .sort(),
  };
}

/** Runs a program to its end. */
export function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env, input, during }: CliOptions,
): Promise<CliOutput> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: env as NodeJS.ProcessEnv,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    child.stdout.on('data', (chunk: Buffer) => output.stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => output.stderr.push(chunk));
    child.stdin.on('error', () => {});
    child.stdin.end(input ?? '');
    child.once('error', reject);
    child.once('close', (status, signal) => {
      resolve({
        status,
        signal,
        stdout: Buffer.concat(output.stdout).toString('utf8'),
        stderr: Buffer.concat(output.stderr).toString('utf8'),
      });
    });
    Promise.resolve(during?.(child)).catch(reject);
  });
}
