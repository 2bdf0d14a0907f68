import { lstatSync, readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { isWaymarkError } from '../../domain/errors.ts';
import type { RunId } from '../../domain/ids.ts';
import type { Git } from '../../platform/git-process.ts';
import { runLockName } from '../../workspace/run-lock.ts';
import { isAside } from '../create/set-aside.ts';
import { branchRefOf, parseRunName, sandboxPlanOf } from '../record/run-name.ts';
import type { WorktreeContext } from '../record/worktree-context.ts';
import { checkHome, type WorktreeHome, worktreeHome, worktreePath } from '../record/worktree-home.ts';
import { readRecord, type WorktreeRecord } from '../record/worktree-record.ts';
import { openRepository, type Repository } from '../repository/checkout.ts';
import { refValue } from '../repository/refs.ts';
import { findRegistered, type RegisteredWorktree, readRegistry } from '../repository/registry.ts';
import { readContents, type WorktreeContents } from './worktree-contents.ts';

/**
 * `active`: its run goes on. `kept`: the run has ended. `orphaned`: the run died. `sandbox`: a plan's, which has its own life.
 * `missing`: the directory was deleted by hand. `broken`: parts are missing, or its creation or removal was interrupted.
 */
export type WorktreeState = 'active' | 'kept' | 'orphaned' | 'sandbox' | 'missing' | 'broken';

/** What there is to know of one worktree. Nothing is cached: null is not known. */
export interface WorktreeSummary {
  readonly runId: RunId;
  readonly path: string;
  readonly state: WorktreeState;
  /** why it is in this state, one sentence; undefined where the state says all */
  readonly detail: string | undefined;
  /** short name of the branch checked out in it; null where HEAD is detached or not known */
  readonly branch: string | null;
  /** commit at its HEAD, else at its branch */
  readonly head: string | null;
  readonly base: string | null;
  /** short name of the branch it started from */
  readonly baseBranch: string | null;
  /** top level of the checkout it was made from */
  readonly origin: string | null;
  /** UTC, ISO 8601 */
  readonly createdAt: string | null;
  readonly ageMs: number | null;
  /** commits beyond the base */
  readonly ahead: number | null;
  /** files that differ from HEAD, without what was brought in and is unchanged */
  readonly changes: { readonly tracked: number; readonly untracked: number; readonly ignored: number } | null;
  /** on disk */
  readonly bytes: number | null;
}

/** Lists the worktrees that Waymark made in the repository around `directory`, newest first. */
export async function listWorktrees(
  context: WorktreeContext,
  directory: string,
): Promise<readonly WorktreeSummary[]> {
  const repository = await openRepository(context.git, directory);
  const home = worktreeHome(repository);
  const registry = await readRegistry(context.git, repository);
  const summaries: WorktreeSummary[] = [];
  for (const runId of namesIn(home, registry)) {
    const summary = await summarize(context, repository, home, registry, runId);
    if (summary !== undefined) summaries.push(summary);
  }
  return summaries.sort((a, b) => compareAge(a, b) || (a.runId < b.runId ? 1 : -1));
}

function compareAge(a: WorktreeSummary, b: WorktreeSummary): number {
  const [left, right] = [a.createdAt ?? '', b.createdAt ?? ''];
  return left === right ? 0 : left < right ? 1 : -1;
}

/** Names of records, directories and entries; what cannot be a name is none of ours. */
function namesIn(home: WorktreeHome, registry: readonly RegisteredWorktree[]): readonly RunId[] {
  const names = registry
    .filter(({ main, path }) => !main && dirname(path) === home.directory)
    .map(({ path }) => basename(path));
  if (checkHome(home)) {
    for (const entry of readdirSync(home.directory, { withFileTypes: true })) {
      if (entry.isDirectory()) names.push(entry.name);
      else if (entry.name.endsWith('.json')) names.push(entry.name.slice(0, -'.json'.length));
    }
  }
  return [...new Set(names)].flatMap((name) => {
    try {
      return [parseRunName(name)];
    } catch (error) {
      if (isWaymarkError(error, 'VALIDATION_ERROR')) return [];
      throw error;
    }
  });
}

async function summarize(
  context: WorktreeContext,
  repository: Repository,
  home: WorktreeHome,
  registry: readonly RegisteredWorktree[],
  runId: RunId,
): Promise<WorktreeSummary | undefined> {
  const path = worktreePath(home, runId);
  const registered = findRegistered(registry, path);
  const { record, damage } = recordOf(home, runId);
  const there = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const head = registered?.head ?? (await refValue(context.git, repository, branchRefOf(runId))) ?? null;
  const looked: Looked =
    there && registered?.entry !== undefined ? await look(context, home, path, registered.entry, record) : {};
  const active = context.locks.isHeld(runLockName('run', runId, path));
  const [state, detail] = active
    ? (['active', undefined] as const)
    : isAside(path)
      ? (['broken', INTERRUPTED] as const)
      : stateOf(runId, record, damage ?? looked.damage, there, registered);
  const { contents } = looked;
  return {
    runId,
    path,
    state,
    detail,
    branch: shortName(registered?.branch ?? null),
    head,
    base: record?.base ?? null,
    baseBranch: shortName(record?.baseBranch ?? null),
    origin: record?.origin ?? null,
    createdAt: record?.createdAt ?? null,
    ageMs: record === undefined ? null : Math.max(0, context.clock.now() - Date.parse(record.createdAt)),
    ahead:
      record === undefined || head === null
        ? null
        : await countBetween(context.git, repository, record.base, head),
    changes: contents
      ? {
          tracked: contents.tracked.length,
          untracked: contents.untracked.length + contents.nested.length,
          ignored: contents.ignored.length,
        }
      : null,
    bytes: contents?.bytes ?? null,
  };
}

const INTERRUPTED = 'Its removal was interrupted: remove it again';

function stateOf(
  runId: RunId,
  record: WorktreeRecord | undefined,
  damage: string | undefined,
  there: boolean,
  registered: RegisteredWorktree | undefined,
): readonly [WorktreeState, string | undefined] {
  if (record?.phase === 'creating') return ['broken', 'Its creation was interrupted: resume it or remove it'];
  if (record?.phase === 'removing') return ['broken', INTERRUPTED];
  if (!there) return ['missing', 'Its directory was deleted: remove it, or resume it from its branch'];
  if (registered?.entry === undefined) return ['broken', 'git does not know it as a worktree'];
  if (damage !== undefined) return ['broken', damage];
  if (record === undefined) return ['orphaned', 'Nothing is recorded of it'];
  if (record.phase === 'kept') return ['kept', undefined];
  const plan = sandboxPlanOf(runId);
  return plan === undefined
    ? ['orphaned', 'Its run ended without a word']
    : ['sandbox', `Sandbox of a plan: waymark plan status ${plan}`];
}

function recordOf(
  home: WorktreeHome,
  runId: RunId,
): { readonly record: WorktreeRecord | undefined; readonly damage?: string } {
  try {
    return { record: readRecord(home, runId) };
  } catch (error) {
    if (!isWaymarkError(error, 'MANIFEST_INVALID', 'FORMAT_UNSUPPORTED')) throw error;
    return { record: undefined, damage: error.message };
  }
}

interface Looked {
  readonly contents?: WorktreeContents;
  readonly damage?: string;
}

/** A worktree that cannot be looked through is listed with the reason. */
async function look(
  context: WorktreeContext,
  home: WorktreeHome,
  path: string,
  entry: string,
  record: WorktreeRecord | undefined,
): Promise<Looked> {
  try {
    const brought = record ?? { seeds: [], submodules: [] };
    return { contents: await readContents(context, path, entry, home.directory, brought) };
  } catch (error) {
    return { damage: `It cannot be looked through: ${(error as Error).message}` };
  }
}

async function countBetween(
  git: Git,
  repository: Repository,
  base: string,
  head: string,
): Promise<number | null> {
  const { stdout, exitCode } = await git.run({
    args: ['rev-list', '--count', head, `^${base}`],
    cwd: repository.topLevel,
    allowExitCodes: [128],
  });
  return exitCode === 0 ? Number(stdout.toString('latin1')) : null;
}

function shortName(ref: string | null): string | null {
  return ref === null ? null : ref.replace(/^refs\/heads\//, '');
}
