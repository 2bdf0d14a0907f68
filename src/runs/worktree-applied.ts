import { openSnapshot } from '../checkpoints/history/open-snapshot.ts';
import { takenBack } from '../checkpoints/undo/choose-operation.ts';
import type { WorkspaceContext } from '../checkpoints/workspace/home-context.ts';
import { isWaymarkError } from '../domain/errors.ts';
import type { ContentHash, RunId } from '../domain/ids.ts';
import type { PathChange } from '../domain/operation.ts';
import type { RelPath } from '../domain/rel-path.ts';
import { type Entry, isStored } from '../domain/snapshot.ts';
import type { SnapshotStore } from '../stores/snapshot-store.ts';

/** Reason of the checkpoint of a worktree whose state was brought into a checkout. */
export const RESULT_REASON = 'worktree-result';

/** A path as the worktree had it when it was brought last. */
interface Applied {
  readonly entry: Entry | undefined;
  readonly store: SnapshotStore;
}

/**
 * What was brought into a checkout before: from there on both sides went their own ways, so that a run that is resumed can be applied again. Applies
 * that were undone do not count.
 */
export interface AppliedStates {
  /**
   * The changes with `before` as it was when it was brought, those included that only take back what was brought.
   *
   * @param now what the worktree has at a path; `unknown` where nothing tells
   */
  rebase(
    changes: readonly PathChange[],
    now: (path: RelPath) => Entry | undefined | 'unknown',
  ): readonly PathChange[];
  /** undefined: it was not brought, or is not that content */
  content(path: RelPath, hash: ContentHash): Promise<Buffer | undefined>;
}

/**
 * @param worktree the worktree as a workspace
 * @param checkout where it was brought
 * @param since when the worktree was made: an earlier one may have had its name
 */
export async function appliedStates(
  worktree: WorkspaceContext,
  checkout: WorkspaceContext,
  runId: RunId,
  since: string,
): Promise<AppliedStates> {
  const applied = new Map<RelPath, Applied>();
  const all = checkout.catalog.operations({ dirHash: checkout.identity.dirHash });
  const { wholly: undone } = takenBack(checkout, all);
  const results = checkout.catalog
    .checkpoints({ dirHash: worktree.identity.dirHash, runId })
    .filter(({ metadata }) => metadata.reason === RESULT_REASON);
  for (const operation of all.toReversed()) {
    const { kind, status, startedAt } = operation;
    const isApply = kind === 'apply' && status === 'done' && operation.runId === runId;
    if (!isApply || startedAt < since || undone.has(operation.id)) continue;
    const result = results.find(({ createdAt }) => createdAt <= startedAt);
    if (result === undefined) continue;
    try {
      const { view, store } = await openSnapshot(checkout, result);
      for (const { path } of checkout.catalog.changes(operation.id) ?? []) {
        const node = view.get(path);
        if (node === undefined || isStored(node)) applied.set(path, { entry: node, store });
      }
    } catch (error) {
      // Without it the next apply compares with the beginning of the run.
      if (!isWaymarkError(error)) throw error;
    }
  }
  return {
    rebase: (changes, now) => {
      const rebased = new Map(changes.map((change) => [change.path, change]));
      for (const [path, { entry }] of applied) {
        const after = rebased.has(path) ? rebased.get(path)?.after : now(path);
        if (after !== 'unknown') rebased.set(path, { path, before: entry, after });
      }
      return [...rebased.values()];
    },
    content: async (path, hash) => {
      const found = applied.get(path);
      return found?.entry?.kind === 'file' && found.entry.hash === hash
        ? await found.store.readBlob(hash)
        : undefined;
    },
  };
}
