import { countText } from '../../domain/count-text.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { CreateOptions } from '../create/create-worktree.ts';
import { type EntryState, kindAt } from '../record/entry-state.ts';
import type { Notice } from '../record/notice.ts';
import { presentWorktree } from '../record/present-worktree.ts';
import type { WorktreeContext } from '../record/worktree-context.ts';
import { lockHome } from '../record/worktree-home.ts';
import { type Seed, writeRecord } from '../record/worktree-record.ts';
import { openRepository } from '../repository/checkout.ts';
import { changesToCarry } from './changes-to-carry.ts';
import { copyEntry, type FromTo, removeEntry } from './copy-entry.ts';
import { includedPaths, type PathsToBring } from './included-paths.ts';
import { seedSubmodules } from './seed-submodules.ts';

export interface SeedOptions extends CreateOptions {
  /** Carry uncommitted changes and untracked files over, as working tree state. */
  readonly withChanges?: boolean;
}

export interface SeedResult {
  readonly seeds: readonly Seed[];
  readonly notices: readonly Notice[];
}

/**
 * Brings into a fresh worktree what its commit does not hold: the ignored files that `.worktreeinclude` of the checkout around
 * `directory` names (gitignore syntax), on request that checkout's uncommitted state, and submodules whose commits are there locally.
 *
 * Links are copied as links; nothing is read or written through one, or outside of the two checkouts. What was brought is recorded with
 * its hash, so that removal can tell it from the run's own work. The caller holds the run's lock.
 *
 * @throws WaymarkError `RUN_NOT_FOUND`, `WORKTREE_NOT_SAFE`, `GIT_FAILED`, and the file system's errors
 */
export async function seedWorktree(context: WorktreeContext, options: SeedOptions): Promise<SeedResult> {
  const { git, fs, locks } = context;
  const repository = await openRepository(git, options.directory);
  const worktree = await presentWorktree(context, repository, options.name);
  const between = { from: repository.originTopLevel, to: worktree.path };
  const submodules = await seedSubmodules(context, repository, worktree);
  const included = await includedPaths(git, between.from);
  const carried: PathsToBring = options.withChanges
    ? await changesToCarry(context, repository, worktree.home, submodules.seeded)
    : { paths: [], notices: [] };

  const skipped: RelPath[] = [];
  const changes = carry(context, between, carried.paths, skipped);
  const includes = include(context, between, included.paths, skipped);

  const seeds = [...changes, ...includes];
  using _hold = await lockHome(locks, repository);
  writeRecord(fs, worktree.home, { ...worktree.record, seeds, submodules: submodules.seeded });
  const notices = [...included.notices, ...carried.notices, ...submodules.notices, ...skippedNotice(skipped)];
  return { seeds, notices };
}

/** Deletions come first, so that a file can take the place of a directory and the other way round. */
function carry(
  { fs }: WorktreeContext,
  between: FromTo,
  paths: readonly RelPath[],
  skipped: RelPath[],
): readonly Seed[] {
  const seeds: Seed[] = [];
  const there: RelPath[] = [];
  for (const path of paths) {
    const kind = kindAt(between.from, path);
    if (kind === 'file' || kind === 'symlink') there.push(path);
    else if (kind === 'special' || kindAt(between.to, path) === 'directory') skipped.push(path);
    else {
      removeEntry(fs, between, path);
      seeds.push({ path, source: 'change', state: { kind: 'absent' } });
    }
  }
  for (const path of there) note(path, 'change', copyEntry(fs, between, path), seeds, skipped);
  return seeds;
}

/** What is there already (a tracked file, a carried change) stays. */
function include(
  { fs }: WorktreeContext,
  between: FromTo,
  paths: readonly RelPath[],
  skipped: RelPath[],
): readonly Seed[] {
  const seeds: Seed[] = [];
  for (const path of paths) {
    if (kindAt(between.to, path) === 'absent') {
      note(path, 'include', copyEntry(fs, between, path), seeds, skipped);
    } else skipped.push(path);
  }
  return seeds;
}

function note(
  path: RelPath,
  source: Seed['source'],
  state: EntryState | undefined,
  seeds: Seed[],
  skipped: RelPath[],
): void {
  if (state?.kind === 'file' || state?.kind === 'symlink') seeds.push({ path, source, state });
  else skipped.push(path);
}

function skippedNotice(paths: readonly RelPath[]): readonly Notice[] {
  if (paths.length === 0) return [];
  const message = `${countText(paths.length, 'path was', 'paths were')} not brought into the worktree: special files, submodules, or something else is in their place`;
  return [{ kind: 'seed_skipped', message, paths }];
}
