import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { type CliSandbox, cliSandbox } from './cli-sandbox.ts';
import { treeListing } from './tree-listing.ts';

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Tester',
  GIT_AUTHOR_EMAIL: 'tester@example.org',
  GIT_COMMITTER_NAME: 'Tester',
  GIT_COMMITTER_EMAIL: 'tester@example.org',
};

/** A CLI sandbox whose workspace is a git repository `main` with one commit: `a.txt` (six lines), `g.txt`, `sub/s.txt`. */
export interface WorktreeScene extends CliSandbox {
  git(...args: readonly string[]): string;
  gitIn(cwd: string, ...args: readonly string[]): string;
  commit(message: string): string;
  /** Where the worktree of a run lies. */
  worktree(run: string, ...parts: readonly string[]): string;
  /** Writes into a run's worktree. */
  writeIn(run: string, path: string, content: string | Buffer): void;
  readIn(run: string, path: string): string;
  /** Runs a shell command in a worktree of its own, which is kept. */
  agent(run: string, script: string, ...more: readonly string[]): Promise<string>;
  /** Everything that worktree commands must leave alone, as it is now. */
  untouched(): Untouched;
}

/** A listing to compare with later. */
export interface Untouched {
  /** Expects the checkout and its `.git` to be as they were, but for the entries, branches and reflogs of `runs`; `commits`: and new objects. */
  same(runs: readonly string[], how?: { readonly commits?: boolean }): void;
}

export const SIX = 'one\ntwo\nthree\nfour\nfive\nsix\n';

export function worktreeScene(): WorktreeScene {
  const place = cliSandbox();
  const gitIn = (cwd: string, ...args: readonly string[]) =>
    execFileSync('git', [...args], {
      cwd,
      env: { PATH: process.env['PATH'], HOME: place.env['HOME'], ...IDENTITY, GIT_OPTIONAL_LOCKS: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
      .toString()
      .trimEnd();
  const git = (...args: readonly string[]) => gitIn(place.work, ...args);
  const commit = (message: string) => {
    git('add', '--all');
    git('commit', '--quiet', '--allow-empty', '--message', message);
    return git('rev-parse', 'HEAD');
  };
  const worktree = (run: string, ...parts: readonly string[]) =>
    join(place.work, '.waymark', 'worktrees', run, ...parts);
  git('init', '--quiet', '--initial-branch=main');
  place.write('a.txt', SIX);
  place.write('g.txt', 'gee\n');
  place.write('sub/s.txt', 'sub\n');
  commit('first');
  return {
    ...place,
    git,
    gitIn,
    commit,
    worktree,
    writeIn(run, path, content) {
      mkdirSync(dirname(worktree(run, path)), { recursive: true });
      writeFileSync(worktree(run, path), content);
    },
    readIn: (run, path) => readFileSync(worktree(run, path), 'utf8'),
    agent: (run, script, ...more) =>
      place.ok(['exec', '-q', '--worktree', '--name', run, ...more, '--', 'sh', '-c', script]),
    untouched: () => {
      const before = listing(place.work, []);
      return {
        same(runs, { commits = false } = {}) {
          const after = listing(place.work, runs);
          const known = new Set(before);
          const isNewObject = (line: string) =>
            commits && line.startsWith('.git/objects/') && !known.has(line);
          expect(after.filter((line) => !isNewObject(line))).toEqual(
            before.filter((line) => !isHolder(line, runs) || after.includes(line)),
          );
        },
      };
    },
  };
}

const HOLDERS = /^\.git\/(?:worktrees|refs\/heads\/waymark|logs\/refs\/heads\/waymark) dir /;

function isHolder(line: string, runs: readonly string[]): boolean {
  return runs.length > 0 && HOLDERS.test(line);
}

function listing(root: string, runs: readonly string[]): readonly string[] {
  const owned = runs.flatMap((run) => [
    `.git/worktrees/${run}`,
    `.git/refs/heads/waymark/${run}`,
    `.git/logs/refs/heads/waymark/${run}`,
  ]);
  return treeListing(root, ['.waymark']).filter(
    (line) =>
      !isHolder(line, runs) &&
      !owned.some((path) => line.startsWith(`${path} `) || line.startsWith(`${path}/`)),
  );
}
