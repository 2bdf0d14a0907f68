import type { Checkpoint } from '../../domain/checkpoint.ts';
import type { SnapshotDraft } from '../../domain/draft.ts';
import { type OverlayView, overlayView } from '../../domain/overlay-view.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import {
  type Entry,
  isStored,
  type NodePair,
  type SnapshotNode,
  type SnapshotView,
} from '../../domain/snapshot.ts';
import { unknownNames } from '../../restore/plan/match-selection.ts';
import { planRestore } from '../../restore/plan/plan-restore.ts';
import type { RestorePlan, Selection } from '../../restore/plan/restore-plan.ts';
import type { SnapshotStore } from '../../stores/snapshot-store.ts';
import { compileScope, type Scope } from '../../workspace/scope/scope.ts';
import { type Present, pairsToPresent, presentState } from '../capture/present.ts';
import { formerNames } from '../history/former-names.ts';
import { scopesBetween } from '../history/scopes-between.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { lookAtPaths } from './look-at-paths.ts';
import { planAroundUnseen } from './plan-around-unseen.ts';

/** A plan together with the workspace as it was when the plan was made, ready to become the safety checkpoint. */
export interface Prepared {
  readonly plan: RestorePlan;
  readonly view: OverlayView;
  readonly present: Present;
  /** holds what the plan writes, where the target does not; kept while the restore goes on */
  readonly contents?: Checkpoint;
}

/** Plans a restore of `target` against the workspace as it is; writes nothing. Call under holds on workspace and store. */
export async function prepareRestore(
  context: WorkspaceContext,
  store: SnapshotStore,
  checkpoint: Checkpoint,
  target: SnapshotView,
  selection: Selection,
): Promise<Prepared> {
  const present = await presentState(context, store);
  const presentScope = compileScope(present.view.rules);
  const pairs = [...pairsToPresent(store, target, present.view)];
  const edits = lookCloser(context, present, pairs, target, presentScope);
  const view = overlayView(
    present.view.base,
    new Map([...present.view.edits, ...edits]),
    present.view.rules,
    present.view.truncated,
  );
  const question = {
    target,
    pairs: edits.size === 0 ? pairs : [...pairsToPresent(store, target, view)],
    targetScope: compileScope(target.rules),
    presentScope,
    betweenScopes: await scopesBetween(context, checkpoint),
    selection,
    formerNames: await formerNames(context, checkpoint, unknownNames(selection, [target, view])),
  };
  const plan = planAroundUnseen(context.identity.path, view, (now) =>
    planRestore({ ...question, present: now }),
  );
  return { plan, view, present };
}

/**
 * Present rules and limits do not decide what a safety checkpoint holds: paths that the restore may touch and that the walk only observed
 * (ignored, over a limit, below a directory not walked) are looked at one by one. Secrets are not.
 */
function lookCloser(
  context: WorkspaceContext,
  present: Present,
  pairs: readonly NodePair[],
  target: SnapshotView,
  presentScope: Scope,
): ReadonlyMap<RelPath, SnapshotNode | undefined> {
  const unseen = pairs.flatMap(({ path, from, to }) => {
    if (isStored(to) || presentScope.isSecret(path)) return [];
    const overLimit = to?.kind === 'observed' && (to.reason === 'over_cap' || to.reason === 'over_total');
    const hidden = isStored(from) && (to === undefined || to.reason === 'ignored' || to.reason === 'pruned');
    return hidden || (overLimit && target.get(path)?.kind !== 'observed') ? [path] : [];
  });
  const found = lookAtPaths(context.identity.path, present, unseen);
  return new Map([...found].filter(([, node]) => node !== undefined));
}

/** The draft of the safety checkpoint: the workspace as planned against, with every path that the plan touches read again. */
export function safetyDraft(prepared: Prepared): SnapshotDraft {
  const edits = new Map(prepared.present.draft.edits.map(({ path, node }) => [path, node] as const));
  for (const [path, node] of prepared.view.edits) {
    const planned = edits.get(path);
    if (planned === undefined || planned.kind !== 'pending') edits.set(path, asRead(node));
  }
  for (const { path, before } of prepared.plan.actions)
    if (before !== undefined) edits.set(path, asRead(before));
  const sorted = [...edits]
    .map(([path, node]) => ({ path, node }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  return { ...prepared.present.draft, edits: sorted };
}

/** Files are read again when they are stored; the rest is held by the node itself. */
function asRead(node: Entry | SnapshotNode | undefined): SnapshotDraft['edits'][number]['node'] {
  return node?.kind === 'file' ? { kind: 'pending', statedSize: node.size } : node;
}
