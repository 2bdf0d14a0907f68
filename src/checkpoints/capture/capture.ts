import type { Checkpoint } from '../../domain/checkpoint.ts';
import type { CaptureStats, DraftEdit, SnapshotDraft } from '../../domain/draft.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { SnapshotStore, WrittenSnapshot } from '../../stores/snapshot-store.ts';
import type { Observation, ScopeSource } from '../../workspace/observation.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { type CheckpointOrigin, commitCheckpoint } from './commit-checkpoint.ts';
import { describeSnapshot, NOTHING_COUNTED } from './describe-snapshot.ts';
import { observe, type Reach } from './present.ts';
import { selectedDraft } from './selected-draft.ts';
import { keepCache, type TrustedCache, trustedCache } from './trusted-cache.ts';

export type CaptureOutcome =
  | { readonly kind: 'taken'; readonly checkpoint: Checkpoint; readonly stats: CaptureStats }
  | { readonly kind: 'same'; readonly checkpoint: Checkpoint; readonly stats: CaptureStats }
  | { readonly kind: 'too_many_files'; readonly files: number };

export interface CaptureInput {
  readonly origin: CheckpointOrigin;
  readonly scope: ScopeSource;
  /** Only these paths and what lies below them. */
  readonly selection: readonly RelPath[];
  /** Gives the earlier record that makes this one superfluous, if the tree is the same. */
  readonly sameAs?: (root: string) => Checkpoint | undefined;
  /** Nothing is taken when the workspace equals the engine's newest capture. */
  readonly onlyIfChanged?: boolean;
  /** Beyond `in_scope` the stat cache is left as it is. */
  readonly reach?: Reach;
  readonly signal?: AbortSignal;
}

type Observed = Extract<Observation, { readonly kind: 'observed' }>;

/** Captures the workspace as it is into a committed checkpoint. Call under holds on workspace and store. */
export async function capture(
  context: WorkspaceContext,
  store: SnapshotStore,
  input: CaptureInput,
): Promise<CaptureOutcome | undefined> {
  const { reach = 'in_scope', signal } = input;
  // What is removed afterwards is read, not remembered.
  const trusted = reach === 'everything' ? undefined : await trustedCache(context, store);
  const observation = await observe(context, trusted?.cache, input.scope, { reach, signal });
  if (observation.kind === 'too_many_files') return observation;
  if (input.onlyIfChanged && observation.unchanged) return undefined;
  const draft =
    input.selection.length === 0
      ? observation.draft
      : selectedDraft(observation.draft, trusted?.base, input.selection);
  const { stats } = observation;
  let written: WrittenSnapshot | undefined;
  let earlier: Checkpoint | undefined;
  const checkpoint = await commitCheckpoint(context, store, input.origin, async () => {
    written = await store.write(draft);
    earlier = input.sameAs?.(written.ref.root);
    if (earlier !== undefined) return undefined;
    const counted =
      draft === observation.draft
        ? { figures: observation, counted: ({ node }: DraftEdit) => node }
        : NOTHING_COUNTED;
    return describeSnapshot(written, draft, counted);
  });
  if (written !== undefined && reach === 'in_scope')
    await remember(context, store, observation, draft, written, trusted);
  if (checkpoint !== undefined) return { kind: 'taken', checkpoint, stats };
  return earlier === undefined ? undefined : { kind: 'same', checkpoint: earlier, stats };
}

/** Keeps the stat cache that names the new snapshot as its base, where there is something new to keep. */
async function remember(
  context: WorkspaceContext,
  store: SnapshotStore,
  observation: Observed,
  draft: SnapshotDraft,
  { ref, read }: WrittenSnapshot,
  trusted: TrustedCache | undefined,
): Promise<void> {
  const next = draft === observation.draft ? observation.next({ root: ref.root, read }) : trusted?.cache;
  if (next !== undefined && next !== trusted?.cache) await keepCache(context, store, next, ref);
  else if (trusted !== undefined) await keepCache(context, store, undefined, trusted.ref);
}
