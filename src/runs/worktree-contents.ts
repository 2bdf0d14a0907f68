import type { CheckpointOrigin } from '../checkpoints/capture/commit-checkpoint.ts';
import { commitCheckpoint } from '../checkpoints/capture/commit-checkpoint.ts';
import { describeSnapshot, NOTHING_COUNTED } from '../checkpoints/capture/describe-snapshot.ts';
import { dropCheckpoints } from '../checkpoints/retention/drop-checkpoints.ts';
import { useSession } from '../checkpoints/sessions/session.ts';
import type { HomeContext, WorkspaceContext } from '../checkpoints/workspace/home-context.ts';
import type { Checkpoint } from '../domain/checkpoint.ts';
import type { DraftEdit, SnapshotDraft } from '../domain/draft.ts';
import { WaymarkError } from '../domain/errors.ts';
import type { DirHash, RunId } from '../domain/ids.ts';
import { comparePaths, type RelPath } from '../domain/rel-path.ts';
import type { FrozenRules } from '../domain/rules.ts';
import type { RestorePlan } from '../restore/plan/restore-plan.ts';
import type { SnapshotStore } from '../stores/snapshot-store.ts';
import type { MergedFile } from './worktree-merge.ts';

/** Reason of the checkpoint that holds what an apply writes while it goes on. */
const CONTENTS_REASON = 'worktree-apply';

/**
 * Commits a checkpoint with everything that an apply will write, so that an apply that is cut short can be finished. It is dropped when the apply is
 * done. Call under holds on the checkout and the store, which has the contents of the worktree's checkpoint already.
 */
export async function holdContents(
  checkout: WorkspaceContext,
  store: SnapshotStore,
  run: { readonly runId: RunId; readonly session: string | undefined },
  what: {
    readonly plan: RestorePlan;
    readonly merged: ReadonlyMap<RelPath, MergedFile>;
    readonly rules: FrozenRules;
  },
): Promise<Checkpoint> {
  const { plan, merged, rules } = what;
  const edits = plan.actions
    .flatMap(({ path, after }): readonly DraftEdit[] => {
      if (after?.kind !== 'file') return [];
      const node = merged.has(path) ? ({ kind: 'pending', statedSize: after.size } as const) : after;
      return [{ path, node }];
    })
    .sort((a, b) => comparePaths(a.path, b.path));
  const origin: CheckpointOrigin = {
    sessionId: useSession(checkout, run.session).id,
    type: 'manual',
    metadata: { reason: CONTENTS_REASON, source: 'worktree' },
    label: null,
    runId: run.runId,
    planId: null,
    decisionId: null,
    resourceId: null,
  };
  const held = await commitCheckpoint(checkout, store, origin, async () => {
    const draft: SnapshotDraft = {
      base: undefined,
      edits,
      rules: { ...rules, selection: edits.map(({ path }) => path) },
      truncated: false,
      read: (path) => readingOf(merged.get(path)),
    };
    return describeSnapshot(await store.write(draft), draft, NOTHING_COUNTED);
  });
  if (held === undefined) throw new WaymarkError('INTERNAL', 'What is to be applied was not held');
  return held;
}

/** Drops what {@link holdContents} made for a run, unless an interrupted apply needs it. */
export async function dropContents(context: HomeContext, dirHash: DirHash, runId: RunId): Promise<void> {
  const over = context.catalog
    .checkpoints({ dirHash, runId })
    .filter(({ metadata }) => metadata.reason === CONTENTS_REASON);
  if (over.length === 0) return;
  const store = context.store('cas', over[0]?.workspace as Checkpoint['workspace']);
  await using _hold = await store.hold('shared', 30_000);
  await dropCheckpoints(context, over);
}

function readingOf(file: MergedFile | undefined): ReturnType<Parameters<SnapshotStore['write']>[0]['read']> {
  if (file === undefined) return { ok: false, node: undefined };
  const { size, mtimeNs, mode } = file.entry;
  return { ok: true, size, mtimeNs, mode, content: file.content };
}
