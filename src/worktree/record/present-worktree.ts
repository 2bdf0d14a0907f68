import { WaymarkError } from '../../domain/errors.ts';
import type { RunId } from '../../domain/ids.ts';
import type { Repository } from '../repository/checkout.ts';
import { findRegistered, type RegisteredWorktree, readRegistry } from '../repository/registry.ts';
import { parseRunName } from './run-name.ts';
import type { WorktreeContext } from './worktree-context.ts';
import {
  checkHome,
  lstatOrUndefined,
  type WorktreeHome,
  worktreeHome,
  worktreePath,
} from './worktree-home.ts';
import { readRecord, type WorktreeRecord } from './worktree-record.ts';

/** A worktree that is whole: its record, directory and entry are there. */
export interface PresentWorktree {
  readonly runId: RunId;
  readonly home: WorktreeHome;
  readonly path: string;
  readonly record: WorktreeRecord;
  readonly registered: RegisteredWorktree;
  /** its directory below `worktrees/` in the git directory */
  readonly entry: string;
}

/**
 * Finds a worktree by name, for work in it.
 *
 * @throws WaymarkError `RUN_NOT_FOUND`; `WORKTREE_NOT_SAFE` where a part of it is missing or its removal has begun
 */
export async function presentWorktree(
  context: WorktreeContext,
  repository: Repository,
  name: string,
): Promise<PresentWorktree> {
  const runId = parseRunName(name);
  const home = worktreeHome(repository);
  const record = checkHome(home) ? readRecord(home, runId) : undefined;
  if (record === undefined) {
    throw new WaymarkError('RUN_NOT_FOUND', `No worktree named "${runId}" in ${repository.topLevel}`, {
      hint: 'See: waymark worktree list',
    });
  }
  const path = worktreePath(home, runId);
  const registered = findRegistered(await readRegistry(context.git, repository), path);
  const missing =
    record.phase === 'creating' || record.phase === 'removing'
      ? `is not whole: ${record.phase}`
      : registered?.entry === undefined
        ? 'is not registered with git any more'
        : lstatOrUndefined(path)?.isDirectory()
          ? undefined
          : 'has lost its directory';
  if (missing !== undefined || registered?.entry === undefined) {
    throw new WaymarkError('WORKTREE_NOT_SAFE', `The worktree "${runId}" ${missing}`, {
      hint: 'See: waymark worktree list',
    });
  }
  return { runId, home, path, record, registered, entry: registered.entry };
}
