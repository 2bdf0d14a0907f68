import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { isWaymarkError, WaymarkError } from '../../domain/errors.ts';
import { decodeName, encodeName, toFsPath } from '../../domain/rel-path.ts';
import type { Git } from '../../platform/git-process.ts';
import { linesOf, singleLine } from './git-output.ts';

/** A git repository with a main checkout, seen from one of its checkouts. All paths are real and absolute. */
export interface Checkout {
  /** top level of the main checkout: worktrees are made below it */
  readonly topLevel: string;
  /** the git directory that all checkouts share */
  readonly commonDirectory: string;
  /** top level of the checkout that was asked about: the main one, or a linked worktree */
  readonly originTopLevel: string;
  /** its git directory: {@link commonDirectory}, or an entry below `worktrees/` in it */
  readonly originGitDirectory: string;
  /** where the asked directory lies below {@link originTopLevel}; `''` is the top level itself */
  readonly prefix: string;
  /** commit at HEAD of the asked checkout */
  readonly head: string;
  /** full ref name of the branch there, null where HEAD is detached */
  readonly branch: string | null;
}

/**
 * Finds the checkout around `directory` and makes sure that worktrees can be made from it. Changes nothing.
 *
 * Linked worktrees, submodules, separate git directories, detached HEADs and sparse checkouts work.
 *
 * @throws WaymarkError `NOT_A_REPOSITORY`; `REPOSITORY_UNSUPPORTED` for a bare repository, the inside of a git directory, a repository
 * without commits, without a main checkout, of another owner, or at a path that is not UTF-8; `GIT_NOT_FOUND`, `GIT_FAILED`
 */
export async function openCheckout(git: Git, directory: string): Promise<Checkout> {
  const place = await openRepository(git, directory);
  const ask = (...args: string[]) => git.run({ args, cwd: directory, allowExitCodes: [1] });
  const [head, branch] = await Promise.all([
    ask('rev-parse', '--verify', '--quiet', 'HEAD^{commit}'),
    ask('symbolic-ref', '--quiet', 'HEAD'),
  ]);
  if (head.exitCode !== 0) {
    throw unsupported(
      place.originTopLevel,
      'has no commits yet',
      'Make a first commit; a worktree starts from HEAD',
    );
  }
  return {
    ...place,
    head: singleLine(head.stdout),
    branch: branch.exitCode === 0 ? singleLine(branch.stdout) : null,
  };
}

/** The part of a {@link Checkout} that also exists without commits. */
export type Repository = Omit<Checkout, 'head' | 'branch'>;

/** Like {@link openCheckout} for functions that need no HEAD: a repository without commits is fine. */
export async function openRepository(git: Git, directory: string): Promise<Repository> {
  await refuseWithoutCheckout(git, directory);
  const ask = async (question: string) =>
    singleLine((await git.run({ args: ['rev-parse', question], cwd: directory })).stdout);
  const [top, gitDirectory, common, prefix] = await Promise.all([
    ask('--show-toplevel'),
    ask('--absolute-git-dir'),
    ask('--git-common-dir'),
    ask('--show-prefix'),
  ]);
  const originTopLevel = realPath(top);
  const originGitDirectory = realPath(gitDirectory);
  const commonDirectory = realPath(resolve(realPath(directory), common));
  const topLevel =
    originGitDirectory === commonDirectory
      ? originTopLevel
      : await mainTopLevel(git, commonDirectory, originTopLevel);
  for (const path of [topLevel, originTopLevel, commonDirectory]) {
    if (!path.isWellFormed()) throw unsupported(path, 'lies at a path that is not UTF-8');
  }
  return {
    topLevel,
    commonDirectory,
    originTopLevel,
    originGitDirectory,
    prefix: prefix.replace(/\/$/, ''),
  };
}

async function refuseWithoutCheckout(git: Git, directory: string): Promise<void> {
  if (!statSync(toFsPath(directory), { throwIfNoEntry: false })?.isDirectory()) {
    throw new WaymarkError('PATH_NOT_FOUND', `${directory} is not a directory`);
  }
  if (!directory.isWellFormed()) throw unsupported(directory, 'lies at a path that is not UTF-8');
  const args = ['rev-parse', '--is-bare-repository', '--is-inside-git-dir', '--is-inside-work-tree'];
  const { stdout } = await git.run({ args, cwd: directory }).catch((error: unknown) => {
    throw asRepositoryError(error, directory);
  });
  const [bare, insideGitDirectory, insideCheckout] = linesOf(stdout);
  if (bare === 'true') throw unsupported(directory, 'is a bare repository, without a checkout');
  if (insideGitDirectory === 'true') throw unsupported(directory, 'is the inside of a git directory');
  if (insideCheckout !== 'true') throw unsupported(directory, 'lies outside of its repository’s checkout');
}

function asRepositoryError(error: unknown, directory: string): unknown {
  if (!isWaymarkError(error, 'GIT_FAILED')) return error;
  if (/not a git repository/i.test(error.message)) {
    return new WaymarkError('NOT_A_REPOSITORY', `${directory} is not in a git repository`, {
      hint: 'Worktrees need git: run git init and make a first commit, or work in place without --worktree',
      cause: error,
    });
  }
  if (/dubious ownership/i.test(error.message)) {
    return unsupported(
      directory,
      'is in a repository of another owner, which git does not trust',
      `git config --global --add safe.directory ${directory}`,
      error,
    );
  }
  return error;
}

async function mainTopLevel(git: Git, commonDirectory: string, linked: string): Promise<string> {
  const inCommon = (...args: string[]) => git.run({ args, gitDir: commonDirectory, allowExitCodes: [1] });
  const [bare, configured] = await Promise.all([
    inCommon('rev-parse', '--is-bare-repository'),
    inCommon('config', '--null', '--get', 'core.worktree'),
  ]);
  if (singleLine(bare.stdout) === 'true') {
    throw unsupported(linked, 'is a worktree of a bare repository, which has no main checkout');
  }
  const candidate =
    configured.exitCode === 0
      ? resolve(commonDirectory, decodeName(configured.stdout).replace(/\0$/, ''))
      : basename(commonDirectory) === '.git'
        ? dirname(commonDirectory)
        : undefined;
  if (candidate === undefined || !(await isCheckoutOf(git, candidate, commonDirectory))) {
    throw unsupported(linked, 'is a worktree of a repository whose main checkout cannot be found');
  }
  return realPath(candidate);
}

async function isCheckoutOf(git: Git, directory: string, gitDirectory: string): Promise<boolean> {
  if (!statSync(toFsPath(directory), { throwIfNoEntry: false })?.isDirectory()) return false;
  const ask = (question: string) =>
    git.run({ args: ['rev-parse', question], cwd: directory, allowExitCodes: [128] });
  const [top, own] = await Promise.all([ask('--show-toplevel'), ask('--absolute-git-dir')]);
  return (
    top.exitCode === 0 &&
    own.exitCode === 0 &&
    realPath(singleLine(top.stdout)) === realPath(directory) &&
    realPath(singleLine(own.stdout)) === gitDirectory
  );
}

function realPath(path: string): string {
  return decodeName(realpathSync.native(encodeName(path), 'buffer'));
}

function unsupported(path: string, why: string, hint?: string, cause?: unknown): WaymarkError {
  return new WaymarkError('REPOSITORY_UNSUPPORTED', `${path} ${why}`, {
    ...(hint !== undefined && { hint }),
    cause,
    details: { path },
  });
}
