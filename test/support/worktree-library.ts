import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type {
  OpenOptions,
  Waymark,
  Workspace,
  WorktreeRunOptions,
  WorktreeRunResult,
} from '../../src/index.ts';
import { openSandbox, type Sandbox, sandbox } from './sandbox.ts';

/** A sandbox whose workspace is a git repository `main` with one commit, and the library opened on it. */
export interface WorktreeLibrary extends Sandbox {
  readonly waymark: Waymark;
  readonly library: Workspace;
  git(...args: readonly string[]): string;
  gitIn(cwd: string, ...args: readonly string[]): string;
  commit(message: string): string;
  write(path: string, content: string | Buffer): void;
  read(path: string): string;
  exists(path: string): boolean;
  worktree(run: string, ...parts: readonly string[]): string;
  /** Runs a shell script in a worktree of its own; a status other than 0 fails the run. */
  agent(run: string, script: string, more?: WorktreeRunOptions): Promise<WorktreeRunResult<number>>;
}

export const SIX = 'one\ntwo\nthree\nfour\nfive\nsix\n';

export async function worktreeLibrary(extra: Partial<OpenOptions> = {}): Promise<WorktreeLibrary> {
  const place = sandbox();
  const env = {
    PATH: process.env['PATH'],
    HOME: place.userHome,
    GIT_AUTHOR_NAME: 'Tester',
    GIT_AUTHOR_EMAIL: 'tester@example.org',
    GIT_COMMITTER_NAME: 'Tester',
    GIT_COMMITTER_EMAIL: 'tester@example.org',
    GIT_OPTIONAL_LOCKS: '0',
  };
  const gitIn = (cwd: string, ...args: readonly string[]) =>
    execFileSync('git', [...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
      .toString()
      .trimEnd();
  const git = (...args: readonly string[]) => gitIn(place.workspace, ...args);
  const at = (path: string) => join(place.workspace, path);
  const write = (path: string, content: string | Buffer) => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), content);
  };
  const commit = (message: string) => {
    git('add', '--all');
    git('commit', '--quiet', '--allow-empty', '--message', message);
    return git('rev-parse', 'HEAD');
  };
  git('init', '--quiet', '--initial-branch=main');
  write('a.txt', SIX);
  write('g.txt', 'gee\n');
  write('sub/s.txt', 'sub\n');
  commit('first');
  const { waymark, workspace: library } = await openSandbox(place, extra);
  return {
    ...place,
    waymark,
    library,
    git,
    gitIn,
    commit,
    write,
    read: (path) => readFileSync(at(path), 'utf8'),
    exists: (path) => existsSync(at(path)),
    worktree: (run, ...parts) => join(place.workspace, '.waymark', 'worktrees', run, ...parts),
    agent: (run, script, more = {}) =>
      library.runInWorktree(
        { ...(more.resume === undefined ? { name: run } : {}), ...more },
        async (context) => {
          const status = shell(script, context.worktree.workingDirectory, env);
          if (status !== 0) context.failed();
          return status;
        },
      ),
  };
}

function shell(script: string, cwd: string, env: NodeJS.ProcessEnv): number {
  try {
    execFileSync('/bin/sh', ['-ec', script], { cwd, env, stdio: 'ignore' });
    return 0;
  } catch (error) {
    return (error as { readonly status: number | null }).status ?? 1;
  }
}
