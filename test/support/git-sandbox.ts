import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/platform/clock.ts';
import type { StepHook } from '../../src/platform/file-system.ts';
import { createGit } from '../../src/platform/git-process.ts';
import { createFileSystem } from '../../src/platform/node-file-system.ts';
import { createLocks } from '../../src/platform/sqlite-locks.ts';
import type { WorktreeContext } from '../../src/worktree/record/worktree-context.ts';
import { treeListing } from './tree-listing.ts';

/** A place for one test: a HOME without git settings, and a repository `main` with one commit. Removed afterwards. */
export interface GitSandbox {
  /** for the repository and what a test puts beside it */
  readonly directory: string;
  readonly repository: string;
  readonly locks: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly context: WorktreeContext;
  contextWith(hook: StepHook, clock?: Clock): WorktreeContext;
  /** Runs git in a directory (default: the repository) with the sandbox's environment and returns what it printed, trimmed. */
  git(...args: readonly string[]): string;
  gitIn(cwd: string, ...args: readonly string[]): string;
  write(path: string, content: string | Buffer, mode?: number): void;
  read(path: string): string;
  commit(message: string): string;
  path(...parts: readonly string[]): string;
}

let firstRepository: string | undefined;

/** A repository with one commit, made once: copying it is quicker. */
function template(): string {
  if (firstRepository !== undefined) return firstRepository;
  const repository = mkdtempSync(join(tmpdir(), 'waymark-git-template-'));
  process.once('exit', () => rmSync(repository, { recursive: true, force: true }));
  const run = (...args: readonly string[]) => execFileSync('git', args, { cwd: repository });
  run('init', '--quiet', '--initial-branch=trunk');
  writeFileSync(join(repository, 'a.txt'), 'one\n');
  mkdirSync(join(repository, 'dir'));
  writeFileSync(join(repository, 'dir/b.txt'), 'two\n');
  run('add', '--all');
  run(
    '-c',
    'user.name=Tester',
    '-c',
    'user.email=tester@example.org',
    'commit',
    '--quiet',
    '--message',
    'first',
  );
  firstRepository = repository;
  return repository;
}

export function gitSandbox(): GitSandbox {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-git-')));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const home = join(base, 'home');
  const directory = join(base, 'files');
  const repository = join(directory, 'main');
  mkdirSync(home);
  mkdirSync(directory);
  const { PATH = '' } = process.env;
  const environment = { PATH, HOME: home, LC_ALL: 'C' };
  const identity = {
    GIT_AUTHOR_NAME: 'Tester',
    GIT_AUTHOR_EMAIL: 'tester@example.org',
    GIT_COMMITTER_NAME: 'Tester',
    GIT_COMMITTER_EMAIL: 'tester@example.org',
  };
  const gitIn = (cwd: string, ...args: readonly string[]) =>
    execFileSync('git', ['-c', 'protocol.file.allow=always', ...args], {
      cwd,
      // what the tests look at must not be refreshed by looking
      env: { ...environment, ...identity, GIT_OPTIONAL_LOCKS: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
      .toString()
      .trimEnd();
  const locks = join(base, 'locks');
  const contextWith = (
    hook: StepHook,
    clock: Clock = { now: () => Date.UTC(2026, 0, 2) },
  ): WorktreeContext => {
    const fs = createFileSystem(hook);
    return { git: createGit(environment), fs, locks: createLocks(locks, fs), clock };
  };
  const write = (path: string, content: string | Buffer, mode?: number) => {
    const full = join(repository, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
    if (mode !== undefined) chmodSync(full, mode);
  };
  const commit = (message: string) => {
    gitIn(repository, 'add', '--all');
    gitIn(repository, 'commit', '--quiet', '--allow-empty', '--message', message);
    return gitIn(repository, 'rev-parse', 'HEAD');
  };
  cpSync(template(), repository, { recursive: true });
  return {
    directory,
    repository,
    locks,
    environment,
    context: contextWith(() => {}),
    contextWith,
    git: (...args) => gitIn(repository, ...args),
    gitIn,
    write,
    read: (path) => readFileSync(join(repository, path), 'utf8'),
    commit,
    path: (...parts) => join(repository, ...parts),
  };
}

/**
 * Everything of a checkout that worktree commands must leave alone: all files but `.waymark`, all of `.git` but the entries and
 * branches of the given names.
 */
export function untouchedPart(repository: string, ...names: readonly string[]): readonly string[] {
  const own = (line: string) =>
    names.some((name) =>
      [
        `.git/worktrees/${name}`,
        `.git/refs/heads/waymark/${name}`,
        `.git/logs/refs/heads/waymark/${name}`,
      ].some((path) => line.startsWith(`${path} `) || line.startsWith(`${path}/`)),
    );
  const holders = /^\.git\/(?:worktrees|refs\/heads\/waymark|logs\/refs\/heads\/waymark) dir /;
  return treeListing(repository, ['.waymark']).filter(
    (line) => !own(line) && !(names.length > 0 && holders.test(line)),
  );
}
