import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { countText } from '../../domain/count-text.ts';
import { isWaymarkError, WaymarkError } from '../../domain/errors.ts';
import type { RunId } from '../../domain/ids.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import { runLockName } from '../../workspace/run-lock.ts';
import { isSecretName } from '../../workspace/scope/fixed-names.ts';
import { type CommitsAtRisk, commitsAtRisk } from '../create/commits-at-risk.ts';
import type { CreateOptions } from '../create/create-worktree.ts';
import { newIn, type TreeState, treeState } from '../create/tree-state.ts';
import { readContents, type WorktreeContents } from '../list/worktree-contents.ts';
import type { RemovalReason, RemovalReasonKind } from '../record/removal-reason.ts';
import { branchOf, parseRunName } from '../record/run-name.ts';
import type { WorktreeContext } from '../record/worktree-context.ts';
import {
  checkHome,
  lstatOrUndefined,
  type WorktreeHome,
  worktreeHome,
  worktreePath,
} from '../record/worktree-home.ts';
import { readRecord, type WorktreeRecord } from '../record/worktree-record.ts';
import { openRepository, type Repository } from '../repository/checkout.ts';
import { findRegistered, type RegisteredWorktree, readRegistry } from '../repository/registry.ts';
import { mountsInside } from './mounts-inside.ts';
import { processesInside } from './processes-inside.ts';

export interface InspectOptions extends CreateOptions {
  /** The caller holds the run's lock itself. */
  readonly ownsRun?: boolean;
}

/** What stands between a worktree and its removal. Nothing was changed. */
export interface RemovalInspection {
  readonly runId: RunId;
  readonly path: string;
  readonly reasons: readonly RemovalReason[];
  readonly commits: CommitsAtRisk;
  /** nothing is known by this name, and nothing is there */
  readonly absent: boolean;
  /** the worktree as it was before anything in it was looked at */
  readonly seen: TreeState;
}

/** A worktree as removal meets it. */
export interface RemovalTarget {
  readonly runId: RunId;
  readonly home: WorktreeHome;
  readonly path: string;
  readonly record: WorktreeRecord | undefined;
  readonly registered: RegisteredWorktree | undefined;
  readonly registry: readonly RegisteredWorktree[];
}

/** Lists every reason why removing a worktree could destroy work, each with what it is about. */
export async function inspectRemoval(
  context: WorktreeContext,
  options: InspectOptions,
): Promise<RemovalInspection> {
  const repository = await openRepository(context.git, options.directory);
  const target = await findTarget(context, repository, options.name);
  return inspectTarget(context, repository, target, options.ownsRun ?? false);
}

export async function findTarget(
  context: WorktreeContext,
  repository: Repository,
  name: string,
): Promise<RemovalTarget> {
  const runId = parseRunName(name);
  const home = worktreeHome(repository);
  const exists = checkHome(home);
  const path = worktreePath(home, runId);
  const registry = await readRegistry(context.git, repository);
  return {
    runId,
    home,
    path,
    record: exists ? readableRecord(home, runId) : undefined,
    registered: findRegistered(registry, path),
    registry,
  };
}

/** A damaged record protects nothing and must not keep its worktree for ever: without it everything counts as the run's work. */
function readableRecord(home: WorktreeHome, runId: RunId): WorktreeRecord | undefined {
  try {
    return readRecord(home, runId);
  } catch (error) {
    if (isWaymarkError(error, 'MANIFEST_INVALID')) return undefined;
    throw error;
  }
}

export async function inspectTarget(
  context: WorktreeContext,
  repository: Repository,
  target: RemovalTarget,
  ownsRun: boolean,
): Promise<RemovalInspection> {
  const { git, locks } = context;
  const { runId, home, path, record, registered, registry } = target;
  const reasons: RemovalReason[] = [];
  const add = (kind: RemovalReasonKind, count: number, message: string, paths: readonly string[] = []) => {
    if (count > 0) reasons.push({ kind, message, count, paths });
  };
  const seen = new Map([...treeState(path), ...entryState(registered?.entry)]);
  const commits = await commitsAtRisk(git, repository, registry, runId, registered);
  if (!ownsRun && locks.isHeld(runLockName('run', runId, path))) {
    add('run_active', 1, `The run "${runId}" goes on in it`);
  }
  const unfinished = record?.phase === 'creating' && !(registered?.entry && hasIndex(registered.entry));
  // git locks an entry while it makes it.
  if (registered?.locked !== undefined && !unfinished) {
    add('locked', 1, `It was locked with git worktree lock${registered.locked && `: ${registered.locked}`}`);
  }
  const stats = lstatOrUndefined(path);
  if (stats !== undefined && !stats.isDirectory()) {
    throw new WaymarkError('UNSAFE_PATH', `${path} is not a directory`);
  }
  if (stats !== undefined) {
    const mounts = mountsInside(path);
    add('mounted', mounts.length, 'Other file systems are mounted in it', mounts);
    const processes = processesInside(path) ?? [];
    const names = processes.map(({ pid, name }) => `${pid} (${name})`);
    add('process_inside', names.length, `Processes work in it: ${names.join(', ')}`, names);
  }
  if (stats !== undefined && registered?.entry !== undefined && !unfinished) {
    if (commits.entryDamaged) add('unreadable', 1, `git cannot read ${registered.entry}`);
    else await addContents(context, home, target, registered.entry, add);
    const begun = operationsInProgress(registered.entry);
    add('operation_in_progress', begun.length, `A ${begun.join(', ')} is in progress in it`);
  } else if (stats !== undefined && !unfinished) {
    add('unregistered', 1, 'git does not know it as a worktree: it may have been moved, or its entry pruned');
  }
  add(
    'commits',
    commits.onBranch,
    `${countText(commits.onBranch, 'commit is', 'commits are')} on ${branchOf(runId)} only`,
  );
  add(
    'detached_commits',
    commits.inWorktree,
    `${countText(commits.inWorktree, 'commit is', 'commits are')} on no branch`,
  );
  const absent =
    record === undefined &&
    registered === undefined &&
    stats === undefined &&
    lstatOrUndefined(`${path}.json`) === undefined;
  return { runId, path, reasons, commits, absent, seen };
}

/** What is staged, and what submodules hold, lies in git's entry. Keys begin with a slash, as no path in the worktree does. */
function entryState(entry: string | undefined): TreeState {
  const state = entry === undefined ? [] : [...treeState(entry)];
  // git touches a shared index whenever it reads it.
  const own = state.filter(([path]) => !path.startsWith('sharedindex.'));
  return new Map(own.map(([path, mark]) => [`/${path}` as RelPath, mark] as const));
}

/** What git's entry of a worktree has that it had not when the worktree was looked at; nothing where that left the entry out. */
export function newInEntry(entry: string | undefined, seen: TreeState): readonly RelPath[] {
  const now = entryState(entry);
  if (![...now.keys()].some((path) => seen.has(path))) return [];
  return newIn(now, seen).map((path) => `.git${path}` as RelPath);
}

type Add = (kind: RemovalReasonKind, count: number, message: string, paths?: readonly string[]) => void;

async function addContents(
  context: WorktreeContext,
  home: WorktreeHome,
  { path, record }: RemovalTarget,
  entry: string,
  add: Add,
): Promise<void> {
  let contents: WorktreeContents;
  try {
    contents = await readContents(
      context,
      path,
      entry,
      home.directory,
      record ?? { seeds: [], submodules: [] },
    );
  } catch (error) {
    const expected =
      isWaymarkError(error, 'GIT_FAILED', 'PERMISSION_DENIED', 'IO_ERROR') ||
      (error as NodeJS.ErrnoException).syscall !== undefined;
    if (!expected) throw error;
    add('unreadable', 1, `It cannot be looked through: ${(error as Error).message}`);
    return;
  }
  // What an interrupted removal has deleted is nobody's work.
  const gone = new Set<RelPath>(record?.phase === 'removing' ? contents.deleted : []);
  const tracked = contents.tracked.filter((item) => !gone.has(item));
  const { untracked, ignored, nested } = contents;
  const secrets = [...tracked, ...untracked, ...ignored].filter(isSecret);
  add(
    'uncommitted',
    tracked.length,
    `${countText(tracked.length, 'tracked file has', 'tracked files have')} uncommitted changes`,
    tracked,
  );
  const staged = contents.staged.filter((item) => !gone.has(item));
  add(
    'staged',
    staged.length,
    `${countText(staged.length, 'file is', 'files are')} staged with a content that is nowhere else`,
    staged,
  );
  add(
    'untracked',
    untracked.length,
    `${countText(untracked.length, 'file is', 'files are')} untracked`,
    untracked,
  );
  add(
    'ignored',
    ignored.length,
    `${countText(ignored.length, 'ignored file was', 'ignored files were')} made or changed in it`,
    ignored,
  );
  add(
    'secret',
    secrets.length,
    `${countText(secrets.length, 'of them is a secret', 'of them are secrets')}, which no checkpoint holds`,
    secrets,
  );
  add(
    'nested_repository',
    nested.length,
    `${countText(nested.length, 'repository in it has work of its own', 'repositories in it have work of their own')}`,
    nested,
  );
}

function isSecret(path: RelPath): boolean {
  return path.split('/').some(isSecretName);
}

/** git writes the index last when it checks out: without one, the worktree was never whole. */
export function hasIndex(entry: string): boolean {
  return existsSync(join(entry, 'index'));
}

const OPERATIONS: readonly (readonly [string, string])[] = [
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['BISECT_LOG', 'bisect'],
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
];

function operationsInProgress(entry: string): readonly string[] {
  return OPERATIONS.filter(([file]) => existsSync(join(entry, file))).map(([, operation]) => operation);
}
