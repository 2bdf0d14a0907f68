import type { WorkspaceContext } from '../checkpoints/workspace/home-context.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import { quotePath, type RelPath } from '../domain/rel-path.ts';
import type { RemovalReasonKind } from '../worktree/record/removal-reason.ts';
import type { RemovalInspection } from '../worktree/remove/inspect-removal.ts';
import { unheldPaths } from './worktree-unheld.ts';

/** Something in a worktree that goes with it and that no checkpoint, commit or checkout holds. */
export interface Lost {
  readonly what: 'secret' | 'repository' | 'staged' | 'operation' | 'process' | 'unheld';
  /** what it is, for people */
  readonly name: string;
}

/** Tells what a worktree holds that no checkpoint can: known before one is taken. */
export function neverHeld(inspection: RemovalInspection): readonly Lost[] {
  const named = (what: Lost['what'], text: (path: string) => string, paths: readonly string[]) =>
    paths.map((path) => ({ what, name: text(path) }));
  const of = (kind: RemovalReasonKind) => inspection.reasons.filter((reason) => reason.kind === kind);
  return [
    ...named('secret', (path) => `${quotePath(path)} (a secret)`, pathsOf(inspection, 'secret')),
    ...named(
      'repository',
      (path) => `the history of the repository ${quotePath(path)}`,
      pathsOf(inspection, 'nested_repository'),
    ),
    ...of('staged').map(({ message }) => ({ what: 'staged' as const, name: lowered(message) })),
    ...of('process_inside').map(({ paths }) => ({
      what: 'process' as const,
      name: `what is still written in it by ${paths.join(', ')}`,
    })),
    ...of('operation_in_progress').map(({ message }) => ({
      what: 'operation' as const,
      name: lowered(message),
    })),
    ...of('unreadable').map(({ message }) => ({ what: 'unheld' as const, name: lowered(message) })),
  ];
}

/** Tells what a checkpoint of everything does not hold after all: unreadable, changing, not storable. */
export async function notHeld(
  inspection: RemovalInspection,
  worktree: WorkspaceContext,
  checkpoint: Checkpoint,
): Promise<readonly Lost[]> {
  const secrets = new Set(pathsOf(inspection, 'secret'));
  const paths = (['uncommitted', 'untracked', 'ignored'] as const)
    .flatMap((kind) => pathsOf(inspection, kind) as readonly RelPath[])
    .filter((path) => !secrets.has(path));
  const unheld = await unheldPaths(worktree, checkpoint, paths);
  return unheld.map((path) => ({ what: 'unheld', name: quotePath(path) }));
}

function pathsOf({ reasons }: RemovalInspection, kind: RemovalReasonKind): readonly string[] {
  return reasons.flatMap((reason) => (reason.kind === kind ? reason.paths : []));
}

function lowered(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
