import { dirname } from 'node:path';
import { type Present, pairsToPresent, presentState, type Reach } from '../../checkpoints/capture/present.ts';
import { openSnapshot } from '../../checkpoints/history/open-snapshot.ts';
import { lockWorkspace } from '../../checkpoints/workspace/workspace-lock.ts';
import type { Checkpoint } from '../../domain/checkpoint.ts';
import { isWaymarkError } from '../../domain/errors.ts';
import type { Plan } from '../../domain/plan.ts';
import { baseNameOf, parentOf, type RelPath } from '../../domain/rel-path.ts';
import { isStored, type SnapshotView } from '../../domain/snapshot.ts';
import { gitDirectoryAt } from '../../workspace/git-directory.ts';
import { type Met, walkTree } from '../../worktree/create/walk-tree.ts';
import { contextFor, type PlanHome } from '../records/plan-home.ts';
import { holdsSameContent } from './same-content.ts';
import { unheldInRepository } from './unheld-in-repository.ts';

/** ms that a capture or restore of another process may take */
const PATIENCE = 30_000;

/** Something in a plan's sandbox that would be gone with it. */
export interface HeldNowhere {
  readonly path: RelPath;
  /** `unheld`: a content that no checkpoint has; `changed`: since the checkpoint; `commits`, `staged`: in the repository at `path`, or for it */
  readonly reason: 'unheld' | 'secret' | 'changed' | 'commits' | 'staged' | 'unreadable';
}

/**
 * Finds what lies in a plan's sandbox as it is now and is held neither by a checkpoint of it, nor by the workspace, nor by the sandbox around it: what was
 * changed since, secrets, ignored files of its own, and what its repositories hold alone. Every file that the checkpoint left out is read.
 *
 * @param reach with which the checkpoint was taken
 */
export async function heldNowhere(
  planHome: PlanHome,
  plan: Plan,
  checkpoint: Checkpoint,
  reach: Reach,
): Promise<readonly HeldNowhere[]> {
  const { home, repository } = planHome;
  const root = plan.sandbox.path;
  const parent = plan.parentId === null ? undefined : repository.plan(plan.parentId);
  const elsewhere = [plan.workspace, ...(parent === undefined ? [] : [parent.sandbox.path])];
  const isHeld = await heldBy(planHome, plan, checkpoint, reach);
  const unheld: HeldNowhere[] = [];
  const repositories: (RelPath | '')[] = [];
  try {
    for (const { path, stats } of outsideRepositories(root, repositories)) {
      if (!stats.isFile() && !stats.isSymbolicLink()) continue;
      const reason = isHeld(path);
      if (reason === 'held' || elsewhere.some((other) => holdsSameContent(root, other, path))) continue;
      unheld.push({ path, reason });
    }
  } catch (error) {
    if (!isWaymarkError(error, 'PERMISSION_DENIED')) throw error;
    unheld.push({ path: '.' as RelPath, reason: 'unreadable' });
  }
  for (const at of repositories)
    unheld.push(...(await unheldInRepository(home, { root, at, elsewhere, scratch: dirname(root) })));
  return unheld;
}

/** What lies in the tree but for repositories' own directories, which are listed instead. */
function* outsideRepositories(root: string, repositories: (RelPath | '')[]): Generator<Met> {
  let inside: string | undefined;
  for (const met of walkTree(root)) {
    if (inside !== undefined && met.path.startsWith(inside)) continue;
    const parent = parentOf(met.path);
    const isRepository =
      baseNameOf(met.path) === '.git' && gitDirectoryAt(parent === '' ? root : `${root}/${parent}`);
    if (isRepository) {
      repositories.push(parent);
      inside = `${met.path}/`;
    } else yield met;
  }
}

async function heldBy(
  planHome: PlanHome,
  plan: Plan,
  checkpoint: Checkpoint,
  reach: Reach,
): Promise<(path: RelPath) => 'held' | 'unheld' | 'secret' | 'changed'> {
  const context = contextFor(planHome, plan, plan.sandbox.path);
  const store = context.store(checkpoint.engine, checkpoint.workspace);
  using _workspace = await lockWorkspace(context.locks, context.identity.path, 'shared', PATIENCE);
  await using _store = await store.hold('shared', PATIENCE);
  const { view } = await openSnapshot(context, checkpoint);
  const present = await presentState(context, store, reach);
  const changed = new Set([...pairsToPresent(store, view, present.view)].map(({ path }) => path));
  return (path) => {
    if (isStored(view.get(path))) return changed.has(path) ? 'changed' : 'held';
    return isSecret(present, view, path) ? 'secret' : isNew(present, path) ? 'changed' : 'unheld';
  };
}

function isSecret(present: Present, view: SnapshotView, path: RelPath): boolean {
  return [present.view.get(path), view.get(path)].some(
    (node) => node?.kind === 'observed' && node.reason === 'secret',
  );
}

function isNew(present: Present, path: RelPath): boolean {
  return isStored(present.view.get(path));
}
