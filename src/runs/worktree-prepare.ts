import { statSync } from 'node:fs';
import type { WorktreeRunOptions } from '../checkpoints/api/worktrees.ts';
import type { WorkspaceContext } from '../checkpoints/workspace/home-context.ts';
import { WaymarkError } from '../domain/errors.ts';
import { refuseAborted } from '../domain/refuse-aborted.ts';
import { createWorktree, type Worktree } from '../worktree/create/create-worktree.ts';
import { resumeWorktree } from '../worktree/create/resume-worktree.ts';
import type { Notice } from '../worktree/record/notice.ts';
import { presentWorktree } from '../worktree/record/present-worktree.ts';
import { processesInside } from '../worktree/remove/processes-inside.ts';
import { seedWorktree } from '../worktree/seed/seed-worktree.ts';
import { counterpartOf, type WorktreePlace, worktreeContext } from './worktree-place.ts';

const INTERRUPTED = 'Interrupted before the command was started';

type PrepareOptions = Pick<WorktreeRunOptions, 'resume' | 'withChanges' | 'signal'>;

/** Makes the worktree, or goes on in one, without what lies in it beside the commit. Under the run's lock. */
export async function openWorktree(
  outer: WorkspaceContext,
  { runId, directory }: WorktreePlace,
  { resume }: PrepareOptions,
): Promise<Worktree> {
  if (resume === undefined) return await createWorktree(outer, { directory, name: runId });
  const worktree = await resumeWorktree(outer, { directory, name: runId });
  const others = (processesInside(worktree.path) ?? []).map(({ pid, name }) => `${pid} (${name})`);
  if (others.length > 0) outer.warn(`Other processes work in ${worktree.path}, too: ${others.join(', ')}`);
  return worktree;
}

/**
 * Brings into the worktree what its commit does not hold, and runs the `[worktree] setup` command in it. One that a run has begun in already is
 * left as it is. Under the run's lock.
 *
 * @throws WaymarkError `COMMAND_FAILED` where the setup command fails, `INTERRUPTED` on `signal`
 */
export async function prepareWorktree(
  outer: WorkspaceContext,
  place: WorktreePlace,
  worktree: Worktree,
  { withChanges = false, signal }: PrepareOptions,
): Promise<readonly Notice[]> {
  refuseAborted(signal, INTERRUPTED);
  if (await wasPrepared(outer, place, worktree)) return [];
  const { notices } = await seedWorktree(outer, {
    directory: place.directory,
    name: place.runId,
    withChanges,
  });
  refuseAborted(signal, INTERRUPTED);
  await setUp(outer, place, signal);
  return notices;
}

/** A run that began in it left a checkpoint, or at least an operation; what bore the same name before the worktree was made does not count. */
async function wasPrepared(
  outer: WorkspaceContext,
  { repository, runId }: WorktreePlace,
  { path, notices }: Worktree,
): Promise<boolean> {
  if (notices.some(({ kind }) => kind === 'recreated')) return false;
  const { record } = await presentWorktree(outer, repository, runId);
  const { dirHash } = worktreeContext(outer, path).identity;
  const operations = outer.catalog.operations({ dirHash, runId });
  const checkpoints = outer.catalog.checkpoints({ dirHash, runId });
  return (
    operations.some(({ startedAt }) => startedAt >= record.createdAt) ||
    checkpoints.some(({ createdAt }) => createdAt >= record.createdAt)
  );
}

async function setUp(
  outer: WorkspaceContext,
  place: WorktreePlace,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { settings, warnings } = outer.settings(outer.identity.path);
  for (const warning of warnings) outer.warn(warning);
  const command = settings.worktreeSetup;
  if (command === undefined) return;
  const wanted = counterpartOf(outer, place);
  const cwd = statSync(wanted, { throwIfNoEntry: false })?.isDirectory() ? wanted : place.path;
  const exitCode = await outer.runCommand(command, cwd, {
    aside: true,
    ...(signal === undefined ? {} : { signal }),
  });
  refuseAborted(signal, INTERRUPTED);
  if (exitCode === 0) return;
  if (exitCode === 130 || exitCode === 143) throw new WaymarkError('INTERRUPTED', INTERRUPTED);
  throw new WaymarkError('COMMAND_FAILED', `[worktree] setup "${command}" exited with status ${exitCode}`, {
    hint: `It was run in ${cwd}`,
    details: { exit_code: exitCode },
  });
}
