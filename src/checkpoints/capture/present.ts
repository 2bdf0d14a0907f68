import { pairNodes } from '../../domain/diff.ts';
import type { CaptureStats, SnapshotDraft } from '../../domain/draft.ts';
import { WaymarkError } from '../../domain/errors.ts';
import { type OverlayView, overlayView, pairsToOverlay } from '../../domain/overlay-view.ts';
import { quotePath, type RelPath } from '../../domain/rel-path.ts';
import { settledEdits } from '../../domain/settled-edits.ts';
import type { NodePair, SnapshotView } from '../../domain/snapshot.ts';
import type { SnapshotStore } from '../../stores/snapshot-store.ts';
import { hashPending } from '../../workspace/hash-pending.ts';
import type { Observation, ScopeSource } from '../../workspace/observation.ts';
import { observeWorkspace } from '../../workspace/observe.ts';
import type { StatCache } from '../../workspace/stat-cache.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { liveScope } from '../workspace/live-scope.ts';
import type { CountedState, SnapshotFigures } from './describe-snapshot.ts';
import { type TrustedCache, trustedCache } from './trusted-cache.ts';

/**
 * How far a look at the workspace goes: to what rules and limits put in scope; to what rules do (`unlimited`); or to everything but secrets
 * and what is named `.git`, ignored and pruned paths included (`everything`).
 */
export type Reach = 'in_scope' | 'unlimited' | 'everything';

/** The root, and with it all that lies below it. */
const ROOT: ReadonlySet<RelPath> = new Set(['' as RelPath]);

/** Looks at the workspace against a stat cache, or afresh. Call under holds on workspace and store. */
export async function observe(
  context: WorkspaceContext,
  cache: StatCache | undefined,
  scope: ScopeSource,
  { reach = 'in_scope', signal }: { readonly reach?: Reach; readonly signal?: AbortSignal | undefined } = {},
): Promise<Observation> {
  const observation = await observeWorkspace({
    root: context.identity.path,
    scope,
    cache,
    git: context.git,
    scouts: context.scouts,
    onProgress: (done) => context.progress({ phase: 'walk', done, total: undefined }),
    ...(reach === 'in_scope' ? {} : { unlimited: true }),
    ...(reach === 'everything' ? { forced: ROOT } : {}),
    ...(signal === undefined ? {} : { signal }),
  });
  for (const dir of observation.kind === 'observed' ? observation.unlisted : []) {
    context.warn(
      `git could not list what the repository at ${dir === '' ? context.identity.path : quotePath(dir)} tracks: tracked files that are ignored or in pruned directories may be missing. See: git status`,
    );
  }
  return observation;
}

/** The workspace as it is: as a draft a store can take, and as a snapshot in memory with every content hashed. */
export interface Present {
  readonly draft: SnapshotDraft;
  readonly view: OverlayView;
  readonly stats: CaptureStats;
  /** of the draft, by the sizes of the walk */
  readonly figures: SnapshotFigures;
  /** what it was compared with */
  readonly trusted: TrustedCache | undefined;
}

/**
 * Makes the workspace as it is comparable with snapshots: changed files are read and hashed, nothing is stored.
 * No limit on the number of files applies, since nothing is kept.
 */
export async function presentState(
  context: WorkspaceContext,
  store: SnapshotStore,
  reach: Reach = 'in_scope',
): Promise<Present> {
  const scope = liveScope(context);
  const trusted = await trustedCache(context, store);
  const unbounded = { ...scope, limits: { ...scope.limits, maxFiles: Number.MAX_SAFE_INTEGER } };
  const observation = await observe(context, trusted?.cache, unbounded, { reach });
  if (observation.kind !== 'observed') {
    throw new WaymarkError(
      'INTERNAL',
      `The walk of ${context.identity.path} stopped at a limit that was not set`,
    );
  }
  const read = await hashPending(observation);
  const settled = settledEdits(observation.draft, read);
  const edits = new Map(settled.edits.map(({ path, node }) => [path, node] as const));
  return {
    draft: observation.draft,
    view: overlayView(trusted?.base, edits, observation.draft.rules, settled.truncated),
    stats: observation.stats,
    figures: observation,
    trusted,
  };
}

/** Says how the workspace as it is was counted, for a draft that holds more of it. */
export function countPresent({ draft, figures, trusted }: Present): CountedState {
  const edits = new Map(draft.edits.map(({ path, node }) => [path, node] as const));
  return {
    figures,
    counted: ({ path }) => (edits.has(path) ? edits.get(path) : trusted?.base.get(path)),
  };
}

/** Differing nodes from a stored snapshot to the workspace as it is. */
export function pairsToPresent(
  store: SnapshotStore,
  from: SnapshotView,
  to: OverlayView,
): Iterable<NodePair> {
  if (to.base === undefined) return pairNodes(from.nodes(), to.nodes());
  return pairsToOverlay(from, store.diff(from, to.base), to);
}
