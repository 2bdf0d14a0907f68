import { join, relative } from 'node:path';
import type { WorkspaceContext } from '../checkpoints/workspace/home-context.ts';
import { WaymarkError } from '../domain/errors.ts';
import type { RunId } from '../domain/ids.ts';
import { isBelow } from '../domain/rel-path.ts';
import { findGitDirectory } from '../workspace/git-directory.ts';
import { identifyWorkspace } from '../workspace/identity.ts';
import { parseRunName } from '../worktree/record/run-name.ts';
import { worktreeHome, worktreePath } from '../worktree/record/worktree-home.ts';
import { openRepository, type Repository } from '../worktree/repository/checkout.ts';

/** The workspace that a worktree command was given in, and what its runs need beside it. */
export interface WorktreeCaller {
  readonly context: WorkspaceContext;
  /** Throws `WORKSPACE_REFUSED` for a directory that may not be a workspace. */
  readonly requirePlace: (path: string) => void;
}

/** Where the worktree of a run lies, there or not. */
export interface WorktreePlace {
  readonly runId: RunId;
  readonly repository: Repository;
  /** in the checkout that it is, or is to be, made from */
  readonly directory: string;
  readonly path: string;
}

/**
 * Finds the place of a run's worktree. Changes nothing.
 *
 * @throws WaymarkError `VALIDATION_ERROR` for the name, `NOT_A_REPOSITORY`, `REPOSITORY_UNSUPPORTED`, `WORKSPACE_REFUSED`
 */
export async function placeOf(
  { context, requirePlace }: WorktreeCaller,
  name: string,
  within = context.identity.path,
): Promise<WorktreePlace> {
  const runId = parseRunName(name);
  const directory = isSameCheckout(within, context.identity.path) ? within : context.identity.path;
  const repository = await openRepository(context.git, directory);
  const path = worktreePath(worktreeHome(repository), runId);
  requirePlace(path);
  return { runId, repository, directory, path };
}

/** A repository nested in the workspace is another one. */
function isSameCheckout(a: string, b: string): boolean {
  return findGitDirectory(a)?.topLevel === findGitDirectory(b)?.topLevel;
}

/** A worktree as a workspace of its own. The settings are those of the workspace it belongs to: its own copy may be old, and is not trusted. */
export function worktreeContext(outer: WorkspaceContext, path: string): WorkspaceContext {
  return contextAt(outer, path);
}

/**
 * The checkout that results are brought into: the one that the command was given in.
 *
 * @throws WaymarkError `WORKSPACE_MISMATCH` inside of the run's own worktree, `WORKSPACE_REFUSED`
 */
export function checkoutContext(
  { context, requirePlace }: WorktreeCaller,
  { repository, path, runId }: WorktreePlace,
): WorkspaceContext {
  const { originTopLevel, topLevel } = repository;
  if (originTopLevel === path) {
    throw new WaymarkError(
      'WORKSPACE_MISMATCH',
      `${originTopLevel} is the worktree of run "${runId}" itself`,
      {
        hint: `Go to the checkout, or name it: --workspace ${topLevel}`,
      },
    );
  }
  if (context.identity.path === originTopLevel) return context;
  requirePlace(originTopLevel);
  return contextAt(context, originTopLevel);
}

/** The counterpart of the workspace in a worktree. */
export function counterpartOf(outer: WorkspaceContext, { repository, path }: WorktreePlace): string {
  return join(path, relative(repository.originTopLevel, outer.identity.path));
}

/** Paths as relative ones: absolute ones may lie in the worktree or in the checkout. */
export function placedPaths(
  paths: readonly string[],
  { repository, path: worktree }: WorktreePlace,
): readonly string[] {
  return paths.map((path) => {
    if (!path.startsWith('/')) return path;
    for (const root of [worktree, repository.originTopLevel]) {
      if (path === root) return '.';
      if (isBelow(path, root)) return path.slice(root.length + 1);
    }
    throw new WaymarkError(
      'UNSAFE_PATH',
      `${path} lies neither in ${repository.originTopLevel} nor in ${worktree}`,
    );
  });
}

function contextAt(outer: WorkspaceContext, path: string): WorkspaceContext {
  return {
    ...outer,
    identity: identifyWorkspace(path),
    settings: (workspace) => outer.settings(workspace === path ? outer.identity.path : workspace),
  };
}
