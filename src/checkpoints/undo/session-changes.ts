import { actionBetween } from '../../domain/diff.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { Operation, PathChange } from '../../domain/operation.ts';
import { comparePaths, type RelPath } from '../../domain/rel-path.ts';
import type { SnapshotStore } from '../../stores/snapshot-store.ts';
import { pairsToPresent, presentState } from '../capture/present.ts';
import { openSnapshot } from '../history/open-snapshot.ts';
import { changesBetween, pathChanges, unheldChanges, unheldOf } from '../history/operation-changes.ts';
import { sessionSpans } from '../sessions/session-spans.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { takenBack } from './choose-operation.ts';
import { undoableChanges, withoutUnheld } from './undoable-changes.ts';

/**
 * What a session changed in the workspace: by its operations that were not undone (`own`, newest first); a session that only took checkpoints changed what
 * changed between each of them and the workspace's next one.
 */
export async function sessionChanges(
  context: WorkspaceContext,
  store: SnapshotStore,
  session: SessionId,
  own: readonly Operation[],
): Promise<readonly PathChange[]> {
  const steps: (readonly PathChange[])[] = [];
  for (const operation of own.toReversed()) steps.push(await undoableChanges(context, operation));
  return compose(own.length > 0 ? steps : await spanChanges(context, store, session));
}

/** A session's operations in the workspace that are not undone, newest first. */
export function sessionOperations(context: WorkspaceContext, session: SessionId): readonly Operation[] {
  const all = context.catalog.operations({ dirHash: context.identity.dirHash });
  const { wholly } = takenBack(context, all);
  return all.filter(
    (operation) => operation.sessionId === session && counts(operation) && !wholly.has(operation.id),
  );
}

function counts({ kind, status }: Operation): boolean {
  return (kind === 'run' || kind === 'restore' || kind === 'apply') && status !== 'open';
}

async function spanChanges(
  context: WorkspaceContext,
  store: SnapshotStore,
  session: SessionId,
): Promise<readonly (readonly PathChange[])[]> {
  const steps: (readonly PathChange[])[] = [];
  for (const span of sessionSpans(context)) {
    if (span.session !== session) continue;
    const { from, to } = span;
    if (to !== undefined) {
      const changes = await changesBetween(context, from, to);
      steps.push(withoutUnheld(changes, await unheldChanges(context, from, to)));
    } else {
      const { view } = await openSnapshot(context, from);
      const present = await presentState(context, store);
      const pairs = [...pairsToPresent(store, view, present.view)];
      steps.push(withoutUnheld(pathChanges(pairs), unheldOf(pairs)));
    }
  }
  return steps;
}

/**
 * Joins consecutive changes: each path from its first `before` to its last `after`. Where somebody else changed it in between, only what
 * came after that is taken back.
 */
function compose(steps: readonly (readonly PathChange[])[]): readonly PathChange[] {
  const joined = new Map<RelPath, PathChange>();
  for (const change of steps.flat()) {
    const earlier = joined.get(change.path);
    const follows = earlier !== undefined && actionBetween(earlier.after, change.before) === undefined;
    joined.set(change.path, follows ? { ...change, before: earlier.before } : change);
  }
  return [...joined.values()].sort((a, b) => comparePaths(a.path, b.path));
}
