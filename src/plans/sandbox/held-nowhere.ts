import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { openSnapshot } from '../../checkpoints/history/open-snapshot.ts';
import type { HomeContext } from '../../checkpoints/workspace/home-context.ts';
import type { Checkpoint } from '../../domain/checkpoint.ts';
import { makesPartial } from '../../domain/coverage.ts';
import type { Plan } from '../../domain/plan.ts';
import { encodeName, type RelPath } from '../../domain/rel-path.ts';
import type { Skip } from '../../domain/snapshot.ts';

/**
 * Paths of a plan's sandbox that neither its final checkpoint holds nor the workspace: secrets that differ there, and what could not be read.
 * Their content would be gone with the sandbox.
 */
export async function heldNowhere(
  home: HomeContext,
  plan: Plan,
  checkpoint: Checkpoint,
): Promise<readonly Skip[]> {
  const store = home.store(checkpoint.engine, checkpoint.workspace);
  await using _hold = await store.hold('shared', 30_000);
  const { view } = await openSnapshot(home, checkpoint);
  const unheld: Skip[] = [];
  for (const [path, node] of view.nodes()) {
    if (node.kind !== 'observed') continue;
    const { reason } = node;
    if (makesPartial(reason) || (reason === 'secret' && !alike(plan, path))) unheld.push({ path, reason });
  }
  return unheld;
}

function alike({ sandbox, workspace }: Plan, path: RelPath): boolean {
  const here = contentOf(sandbox.path, path);
  const there = contentOf(workspace, path);
  return here !== undefined && there !== undefined && here.equals(there);
}

function contentOf(root: string, path: RelPath): Buffer | undefined {
  const place = encodeName(`${root}/${path}`);
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink()) return readlinkSync(place, 'buffer');
  return stats?.isFile() ? readFileSync(place) : undefined;
}
