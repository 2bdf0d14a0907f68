import { openSnapshot } from '../checkpoints/history/open-snapshot.ts';
import type { WorkspaceContext } from '../checkpoints/workspace/home-context.ts';
import { isWaymarkError } from '../domain/errors.ts';
import type { ContentHash } from '../domain/ids.ts';
import type { RelPath } from '../domain/rel-path.ts';
import type { Entry, SnapshotView } from '../domain/snapshot.ts';
import type { SnapshotStore } from '../stores/snapshot-store.ts';
import type { Seed } from '../worktree/record/worktree-record.ts';
import {
  type CommitPlace,
  type CommittedEntry,
  committedEntries,
  entryOf,
  readCommitted,
} from '../worktree/repository/committed-entries.ts';
import type { WorktreeState } from './worktree-state.ts';

/** The state that the runs of a worktree began with, as far as it is known. */
export interface WorktreeOrigin {
  /** undefined: there is no checkpoint of it that can be read */
  readonly view: SnapshotView | undefined;
  readonly store: SnapshotStore | undefined;
  /** Tells what a path was that the checkpoint does not hold: what was brought in there, else what the commit has. `like`: its present bits. */
  entry(path: RelPath, like: number | undefined): Promise<Entry | undefined>;
  /** Every path that the commit has. */
  committed(): Promise<ReadonlyMap<RelPath, CommittedEntry>>;
  /** The content of a file that {@link view} or {@link entry} gave; undefined where nothing holds it. */
  content(path: RelPath, hash: ContentHash): Promise<Buffer | undefined>;
}

const DAMAGED = [
  'OBJECT_MISSING',
  'OBJECT_CORRUPT',
  'MANIFEST_INVALID',
  'FORMAT_UNSUPPORTED',
  'GIT_NOT_FOUND',
] as const;

/** Opens it. Call under a hold on the base checkpoint's store. */
export async function openOrigin({ place, present, worktree, base }: WorktreeState): Promise<WorktreeOrigin> {
  const commit: CommitPlace = { path: place.path, entry: present.entry, commit: present.record.base };
  const seeds = new Map(present.record.seeds.map((seed) => [seed.path, seed]));
  const opened = base === undefined ? undefined : await openBase(worktree, base);
  let listing: Promise<ReadonlyMap<RelPath, CommittedEntry>> | undefined;
  const committed = () => {
    listing ??= committedEntries(worktree.git, commit);
    return listing;
  };
  const read = async (path: RelPath): Promise<readonly [CommittedEntry, Buffer] | undefined> => {
    const found = (await committed()).get(path);
    return found && [found, await readCommitted(worktree.git, commit, path, found)];
  };
  return {
    view: opened?.view,
    store: opened?.store,
    committed,
    async entry(path, like) {
      const seed = seeds.get(path);
      if (seed !== undefined) return seedEntry(seed);
      const found = await read(path);
      return found && entryOf(found[0], found[1], like);
    },
    async content(path, hash) {
      const node = opened?.view.get(path);
      if (node?.kind === 'file' && node.hash === hash) return await opened?.store.readBlob(hash);
      const found = await read(path);
      const entry = found && entryOf(found[0], found[1], undefined);
      return entry?.kind === 'file' && entry.hash === hash ? found?.[1] : undefined;
    },
  };
}

async function openBase(worktree: WorkspaceContext, base: NonNullable<WorktreeState['base']>) {
  try {
    return await openSnapshot(worktree, base);
  } catch (error) {
    if (!isWaymarkError(error, ...DAMAGED)) throw error;
    worktree.warn(`Checkpoint ${base.id} can't be read, so the commit is compared with: ${error.message}`);
    return undefined;
  }
}

function seedEntry({ state }: Seed): Entry | undefined {
  if (state.kind === 'absent') return undefined;
  if (state.kind === 'symlink') return { kind: 'symlink', target: state.target, mtimeNs: 0n };
  return { kind: 'file', hash: state.hash, size: state.size, mtimeNs: 0n, mode: state.mode };
}
