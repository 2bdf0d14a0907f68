import type { Operation, PathChange } from '../../domain/operation.ts';
import { ancestorsOf } from '../../domain/rel-path.ts';
import type { Skip } from '../../domain/snapshot.ts';
import { operationChanges, unknownChanges } from '../history/operation-changes.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';

/** What of an operation's changes can be taken back: as {@link withoutUnheld} says. @throws WaymarkError `UNDO_IMPOSSIBLE` */
export async function undoableChanges(
  context: WorkspaceContext,
  operation: Operation,
): Promise<readonly PathChange[]> {
  return withoutUnheld(await operationChanges(context, operation), await unknownChanges(context, operation));
}

/** Leaves out what appeared in a place whose state before is not held: the place stays as it is, and what lies in it too. */
export function withoutUnheld(
  changes: readonly PathChange[],
  unheld: readonly Skip[],
): readonly PathChange[] {
  const places = new Set(unheld.map(({ path }) => path));
  if (places.size === 0) return changes;
  return changes.filter(
    ({ path, before }) => before !== undefined || !ancestorsOf(path).some((above) => places.has(above)),
  );
}
