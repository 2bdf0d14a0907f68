import { WaymarkError } from '../../domain/errors.ts';
import { parseRunName } from '../record/run-name.ts';
import type { WorktreeContext } from '../record/worktree-context.ts';
import { checkHome, lockHome, worktreeHome } from '../record/worktree-home.ts';
import { readRecord, writeRecord } from '../record/worktree-record.ts';
import { openRepository } from '../repository/checkout.ts';
import type { CreateOptions } from './create-worktree.ts';

/**
 * Records that the run in a worktree has ended and its worktree stays, which tells it from one whose run died.
 *
 * @throws WaymarkError `RUN_NOT_FOUND`; `WORKTREE_NOT_SAFE` for a worktree that is not whole
 */
export async function keepWorktree(context: WorktreeContext, options: CreateOptions): Promise<void> {
  const runId = parseRunName(options.name);
  const repository = await openRepository(context.git, options.directory);
  const home = worktreeHome(repository);
  using _hold = await lockHome(context.locks, repository);
  const record = checkHome(home) ? readRecord(home, runId) : undefined;
  if (record === undefined) {
    throw new WaymarkError('RUN_NOT_FOUND', `No worktree named "${runId}" in ${repository.topLevel}`);
  }
  if (record.phase === 'creating' || record.phase === 'removing') {
    throw new WaymarkError('WORKTREE_NOT_SAFE', `The worktree "${runId}" is not whole: ${record.phase}`);
  }
  writeRecord(context.fs, home, { ...record, phase: 'kept' });
}
