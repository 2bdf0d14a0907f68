import type { CheckpointRecord, SnapshotRef } from '../../domain/checkpoint.ts';
import type { SnapshotDraft } from '../../domain/draft.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { ContentHash, DirHash } from '../../domain/ids.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { NodePair, SnapshotView } from '../../domain/snapshot.ts';
import { diskSize } from '../disk-size.ts';
import { diffTrees } from '../entry-tree/diff-trees.ts';
import { openTree } from '../entry-tree/open-tree.ts';
import type { ReadNode } from '../entry-tree/tree-reader.ts';
import { decodeRules } from '../rules-blob.ts';
import type {
  CheckpointLocation,
  CollectOptions,
  CollectReport,
  PublishedCheckpoint,
  SnapshotStore,
  StoredManifest,
  StoreHold,
  StoreProblem,
  WrittenSnapshot,
} from '../snapshot-store.ts';
import { PendingRefs } from './capture/pending-refs.ts';
import { publishCheckpoint } from './capture/publish-checkpoint.ts';
import { prepareRepository } from './capture/shadow-repository.ts';
import { writeSnapshot } from './capture/write-snapshot.ts';
import { collectObjects } from './collection/collect-objects.ts';
import { type PurgedCheckpoint, purgePaths } from './collection/purge-paths.ts';
import { ShadowObjects } from './objects/shadow-objects.ts';
import { removePin, writePin } from './records/pins.ts';
import { readManifest, readManifests } from './records/read-manifests.ts';
import { retractCheckpoint } from './records/retract-checkpoint.ts';
import { contentMarks } from './repository/content-marks.ts';
import { setDamagedPacksAside } from './repository/damaged-packs.ts';
import type { ShadowContext } from './repository/shadow-context.ts';
import { locateShadow } from './repository/shadow-layout.ts';
import { RepositoryGuard } from './repository-guard.ts';
import { verifyRecords } from './verify-records.ts';

/** How long an operation waits for another capture or a live `index.lock`, ms. */
const PATIENCE_MS = 10_000;

export interface ShadowGitOptions extends Omit<ShadowContext, 'gitDir' | 'warn' | 'waitMs' | 'health'> {
  /** Told what a person should know although nothing failed: a replaced repository, a dead lock removed. */
  readonly onWarning?: (message: string) => void;
  /** How long to wait for another capture or a live `index.lock`, ms; then `STORE_BUSY`. Default 10,000. */
  readonly waitMs?: number;
}

/** Opens the shadow repository of one workspace; it is made by the first write. See `docs/format.md`. */
export function openShadowGitStore(options: ShadowGitOptions): SnapshotStore {
  const { onWarning, waitMs = PATIENCE_MS, ...rest } = options;
  const { gitDir } = locateShadow(options.layout, options.identity);
  return new ShadowGitStore({
    ...rest,
    gitDir,
    waitMs,
    warn: onWarning ?? (() => {}),
    health: { signature: undefined, packs: new Map() },
  });
}

class ShadowGitStore implements SnapshotStore {
  readonly engine = 'git';
  readonly capabilities = { sharedAcrossWorkspaces: false, durable: true, needsGit: true } as const;
  readonly workspace: DirHash;
  readonly #context: ShadowContext;
  readonly #objects: ShadowObjects;
  /** what the views of {@link open} read from */
  readonly #readers = new WeakMap<SnapshotView, ReadNode>();
  readonly #guard: RepositoryGuard;
  readonly #pending: PendingRefs;
  readonly #warnings: string[] = [];

  constructor(context: ShadowContext) {
    const warn = (message: string): void => {
      this.#warnings.push(message);
      context.warn(message);
    };
    this.#context = { ...context, warn };
    this.workspace = context.identity.dirHash;
    this.#objects = new ShadowObjects(this.#context);
    this.#guard = new RepositoryGuard(this.#context, this.#objects);
    this.#pending = new PendingRefs(this.#context);
  }

  async hold(mode: 'shared' | 'exclusive', waitMs: number): Promise<StoreHold> {
    const { locks, identity, gitDir } = this.#context;
    const hold = await locks.acquire(`store-git-${identity.dirHash}`, mode, waitMs);
    if (hold === undefined) throw new WaymarkError('STORE_BUSY', `Shadow repository ${gitDir} stays in use`);
    return { mode, [Symbol.asyncDispose]: async () => hold[Symbol.dispose]() };
  }

  write(draft: SnapshotDraft): Promise<WrittenSnapshot> {
    return this.#guard.staged(async () => {
      await prepareRepository(this.#context);
      setDamagedPacksAside(this.#context);
      await this.#guard.noticeReplacement();
      const { pendingRef, ...written } = await writeSnapshot(this.#context, this.#objects, draft);
      this.#pending.remember({ ...written, pendingRef });
      return written;
    });
  }

  publish(record: CheckpointRecord): Promise<PublishedCheckpoint> {
    return this.#guard.staged(async () => {
      await this.#guard.require(`publish checkpoint ${record.id}`);
      const published = await publishCheckpoint(this.#context, this.#objects, record);
      this.#pending.drop(record.snapshot.root);
      return published;
    });
  }

  retract({ id }: CheckpointLocation): Promise<void> {
    return this.#guard.staged(async () => {
      if (await this.#guard.exists()) await retractCheckpoint(this.#context, this.#objects.reader, id);
    });
  }

  setPinned({ id }: CheckpointLocation, pinned: boolean): Promise<void> {
    return this.#guard.staged(async () => {
      await this.#guard.require(`pin checkpoint ${id}`);
      if (pinned) writePin(this.#context, id);
      else removePin(this.#context, id);
    });
  }

  async manifests(): Promise<{
    readonly manifests: readonly StoredManifest[];
    readonly problems: readonly StoreProblem[];
  }> {
    return this.#guard.orDamage(
      async () => {
        if (!(await this.#guard.exists())) return { manifests: [], problems: [] };
        return readManifests(this.#context, this.#objects.reader);
      },
      (problem) => ({ manifests: [], problems: [problem] }),
    );
  }

  manifest(where: CheckpointLocation): Promise<StoredManifest> {
    return this.#guard.attempt(async () => {
      await this.#guard.require(`read checkpoint ${where.id}`);
      return readManifest(this.#context, this.#objects.reader, where);
    });
  }

  open(ref: SnapshotRef): Promise<SnapshotView> {
    return this.#guard.attempt(() => this.#open(ref));
  }

  diff(from: SnapshotView, to: SnapshotView): Iterable<NodePair> {
    const [a, b] = [this.#readers.get(from), this.#readers.get(to)];
    if (a === undefined || b === undefined || from.root === undefined || to.root === undefined) {
      throw new WaymarkError('INTERNAL', 'A view to compare does not come from this store');
    }
    return diffTrees(from.root, to.root, a, b);
  }

  missing(hashes: Iterable<ContentHash>): Promise<ReadonlySet<ContentHash>> {
    const wanted = new Set(hashes);
    return this.#guard.attempt(async () => {
      if (wanted.size === 0 || !(await this.#guard.exists())) return wanted;
      return this.#objects.missing(wanted);
    });
  }

  async contentMarks(): Promise<readonly string[]> {
    return contentMarks(this.#context.gitDir);
  }

  readBlob(hash: ContentHash): Promise<Buffer> {
    return this.#guard.attempt(async () => {
      this.#guard.requireDirectory(`Blob ${hash} is missing`);
      return this.#objects.blob(hash);
    });
  }

  async *streamBlob(hash: ContentHash): AsyncGenerator<Buffer, undefined> {
    this.#guard.requireDirectory(`Blob ${hash} is missing`);
    yield* this.#objects.stream(hash);
  }

  verify(records: Iterable<CheckpointRecord>): Promise<readonly StoreProblem[]> {
    const wanted = [...records];
    return this.#guard.orDamage(
      async () => {
        if (await this.#guard.exists()) return verifyRecords(this.#context, this.#objects, wanted);
        const { gitDir } = this.#context;
        const problem = this.#guard.problem('OBJECT_MISSING', `Shadow repository ${gitDir} does not exist`);
        return wanted.map(({ id }) => ({ ...problem, checkpointId: id }));
      },
      (problem) => wanted.map(({ id }) => ({ ...problem, checkpointId: id })),
    );
  }

  collect(options: CollectOptions): Promise<CollectReport> {
    return this.#guard.orDamage(
      () =>
        this.#guard.staged(async () => {
          if (await this.#guard.exists()) return collectObjects(this.#context, this.#objects, options);
          return { bytesBefore: 0, bytesAfter: 0, blobsDropped: 0, blockedBy: [] };
        }),
      (problem) => {
        const bytes = diskSize(this.#context.gitDir);
        return { bytesBefore: bytes, bytesAfter: bytes, blobsDropped: 0, blockedBy: [problem] };
      },
    );
  }

  async size(): Promise<{ readonly bytes: number }> {
    return { bytes: diskSize(this.#context.gitDir) };
  }

  purge(
    records: Iterable<CheckpointRecord>,
    matches: (path: RelPath) => boolean,
  ): Promise<readonly PurgedCheckpoint[]> {
    const wanted = [...records];
    return this.#guard.staged(async () => {
      await this.#guard.require('purge');
      return purgePaths(this.#context, this.#objects, wanted, matches, {
        open: ({ snapshot }) => this.#open(snapshot),
        settle: (written) => {
          this.#pending.remember(written);
          this.#pending.drop(written.ref.root);
        },
      });
    });
  }

  takeWarnings(): readonly string[] {
    return this.#warnings.splice(0);
  }

  async close(): Promise<void> {
    this.#pending.dropAll();
    await this.#objects.forget();
  }

  async #open({ root, rules, truncated }: SnapshotRef): Promise<SnapshotView> {
    await this.#guard.require(`open snapshot ${root}`);
    const readNode = await this.#objects.nodes(root);
    const frozen = decodeRules(await this.#objects.blob(rules));
    const view = openTree(root, frozen, truncated, readNode);
    this.#readers.set(view, readNode);
    return view;
  }
}
