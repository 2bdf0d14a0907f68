import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckpointRecord, SnapshotRef } from '../../domain/checkpoint.ts';
import type { SnapshotDraft } from '../../domain/draft.ts';
import { isWaymarkError, WaymarkError } from '../../domain/errors.ts';
import type { ContentHash, DirHash } from '../../domain/ids.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { NodePair, SnapshotView } from '../../domain/snapshot.ts';
import { errorCode, systemError } from '../../platform/system-error.ts';
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
import { publishCheckpoint } from './capture/publish-checkpoint.ts';
import { prepareRepository, repositoryExists } from './capture/shadow-repository.ts';
import { type PendingSnapshot, writeSnapshot } from './capture/write-snapshot.ts';
import { collectObjects } from './collection/collect-objects.ts';
import { type PurgedCheckpoint, purgePaths } from './collection/purge-paths.ts';
import { ObjectMap } from './objects/object-map.ts';
import { missingNames, ShadowObjects } from './objects/shadow-objects.ts';
import { deleteRefs, readRefs } from './records/checkpoint-refs.ts';
import { writeTable } from './records/checkpoint-table.ts';
import { removePin, writePin } from './records/pins.ts';
import { readManifest, readManifests } from './records/read-manifests.ts';
import { contentRef, manifestRef } from './records/ref-names.ts';
import { contentToken } from './repository/content-token.ts';
import { setDamagedPacksAside } from './repository/damaged-packs.ts';
import type { ShadowContext } from './repository/shadow-context.ts';
import { locateShadow } from './repository/shadow-layout.ts';
import { lockStage } from './repository/stage-lock.ts';
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
  /** refs of snapshots that no checkpoint holds yet, by root */
  readonly #pending = new Map<string, string[]>();
  #generation: bigint | undefined;

  readonly #warnings: string[] = [];

  constructor(context: ShadowContext) {
    const warn = (message: string): void => {
      this.#warnings.push(message);
      context.warn(message);
    };
    this.#context = { ...context, warn };
    this.workspace = context.identity.dirHash;
    this.#objects = new ShadowObjects(this.#context);
  }

  async hold(mode: 'shared' | 'exclusive', waitMs: number): Promise<StoreHold> {
    const { locks, identity, gitDir } = this.#context;
    const hold = await locks.acquire(`store-git-${identity.dirHash}`, mode, waitMs);
    if (hold === undefined) throw new WaymarkError('STORE_BUSY', `Shadow repository ${gitDir} stays in use`);
    return { mode, [Symbol.asyncDispose]: async () => hold[Symbol.dispose]() };
  }

  write(draft: SnapshotDraft): Promise<WrittenSnapshot> {
    return this.#staged(async () => {
      await prepareRepository(this.#context);
      setDamagedPacksAside(this.#context);
      await this.#noticeReplacement();
      const { pendingRef, ...written } = await writeSnapshot(this.#context, this.#objects, draft);
      this.#remember({ ...written, pendingRef });
      return written;
    });
  }

  publish(record: CheckpointRecord): Promise<PublishedCheckpoint> {
    return this.#staged(async () => {
      await this.#require(`publish checkpoint ${record.id}`);
      const published = await publishCheckpoint(this.#context, this.#objects, record);
      this.#dropPending(record.snapshot.root);
      return published;
    });
  }

  retract({ id }: CheckpointLocation): Promise<void> {
    return this.#staged(async () => {
      if (!(await this.#exists())) return;
      const { checkpoints, leftovers } = await readRefs(this.#context, this.#objects.reader);
      const own = [contentRef(id), manifestRef(id)];
      const others = checkpoints.filter((checkpoint) => checkpoint.id !== id);
      const isPublished = others.length < checkpoints.length;
      await deleteRefs(this.#context, isPublished ? own : leftovers.filter((ref) => own.includes(ref)));
      removePin(this.#context, id);
      if (isPublished) writeTable(this.#context, others);
    });
  }

  setPinned({ id }: CheckpointLocation, pinned: boolean): Promise<void> {
    return this.#staged(async () => {
      await this.#require(`pin checkpoint ${id}`);
      if (pinned) writePin(this.#context, id);
      else removePin(this.#context, id);
    });
  }

  async manifests(): Promise<{
    readonly manifests: readonly StoredManifest[];
    readonly problems: readonly StoreProblem[];
  }> {
    const { gitDir } = this.#context;
    return this.#orDamage(
      async () => {
        if (!(await this.#exists())) return { manifests: [], problems: [] };
        return readManifests(this.#context, this.#objects.reader);
      },
      (message) => ({ manifests: [], problems: [damageOf(gitDir, message)] }),
    );
  }

  manifest(where: CheckpointLocation): Promise<StoredManifest> {
    return this.#attempt(async () => {
      await this.#require(`read checkpoint ${where.id}`);
      return readManifest(this.#context, this.#objects.reader, where);
    });
  }

  open(ref: SnapshotRef): Promise<SnapshotView> {
    return this.#attempt(() => this.#open(ref));
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
    return this.#attempt(async () => {
      if (wanted.size === 0 || !(await this.#exists())) return wanted;
      const names = await this.#objects.names(wanted);
      const gone = await missingNames(this.#context, names.values());
      return new Set([...wanted].filter((hash) => gone.has(names.get(hash) ?? '') || !names.has(hash)));
    });
  }

  async contentToken(): Promise<string> {
    return contentToken(this.#context.gitDir);
  }

  readBlob(hash: ContentHash): Promise<Buffer> {
    return this.#attempt(async () => {
      this.#requireDirectory(hash);
      return this.#objects.blob(hash);
    });
  }

  async *streamBlob(hash: ContentHash): AsyncGenerator<Buffer, undefined> {
    this.#requireDirectory(hash);
    yield* this.#objects.stream(hash);
  }

  verify(records: Iterable<CheckpointRecord>): Promise<readonly StoreProblem[]> {
    const wanted = [...records];
    const { gitDir } = this.#context;
    return this.#orDamage(
      async () => {
        if (await this.#exists()) return verifyRecords(this.#context, this.#objects, wanted);
        const problem = {
          ...damageOf(gitDir, `Shadow repository ${gitDir} does not exist`),
          code: 'OBJECT_MISSING',
        } as const;
        return wanted.map(({ id }) => ({ ...problem, checkpointId: id }));
      },
      (message) => wanted.map(({ id }) => ({ ...damageOf(gitDir, message), checkpointId: id })),
    );
  }

  collect(options: CollectOptions): Promise<CollectReport> {
    const { gitDir } = this.#context;
    return this.#orDamage(
      () =>
        this.#staged(async () => {
          if (await this.#exists()) return collectObjects(this.#context, this.#objects, options);
          return { bytesBefore: 0, bytesAfter: 0, blobsDropped: 0, blockedBy: [] };
        }),
      (message) => {
        const bytes = diskSize(gitDir);
        return {
          bytesBefore: bytes,
          bytesAfter: bytes,
          blobsDropped: 0,
          blockedBy: [damageOf(gitDir, message)],
        };
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
    return this.#staged(async () => {
      await this.#require('purge');
      return purgePaths(this.#context, this.#objects, wanted, matches, {
        open: ({ snapshot }) => this.#open(snapshot),
        settle: (written) => {
          this.#remember(written);
          this.#dropPending(written.ref.root);
        },
      });
    });
  }

  takeWarnings(): readonly string[] {
    return this.#warnings.splice(0);
  }

  async close(): Promise<void> {
    for (const root of this.#pending.keys()) this.#dropPending(root);
    await this.#objects.forget();
  }

  async #open({ root, rules, truncated }: SnapshotRef): Promise<SnapshotView> {
    await this.#require(`open snapshot ${root}`);
    const readNode = await this.#objects.nodes(root);
    const frozen = decodeRules(await this.#objects.blob(rules));
    const view = openTree(root, frozen, truncated, readNode);
    this.#readers.set(view, readNode);
    return view;
  }

  /** Runs what changes the repository, alone. */
  #staged<T>(body: () => Promise<T>): Promise<T> {
    return this.#attempt(async () => {
      using _stage = await lockStage(this.#context);
      return await body();
    });
  }

  /** Runs an operation; where the object map turns out to be damaged, once more without it. */
  async #attempt<T>(body: () => Promise<T>): Promise<T> {
    const { gitDir, fs } = this.#context;
    try {
      try {
        return await body();
      } catch (error) {
        if (!isWaymarkError(error, 'CATALOG_CORRUPT')) throw error;
        await this.#objects.forget();
        ObjectMap.discard(gitDir, fs);
        return await body();
      }
    } catch (error) {
      throw systemError(error, 'use', gitDir);
    }
  }

  /** For operations that report damage instead of throwing it. */
  async #orDamage<T>(body: () => Promise<T>, report: (message: string) => T): Promise<T> {
    try {
      return await this.#attempt(body);
    } catch (error) {
      if (isWaymarkError(error, 'STORE_CORRUPT')) return report(error.message);
      throw error;
    }
  }

  #remember({ ref, pendingRef }: PendingSnapshot): void {
    if (pendingRef === undefined) return;
    this.#pending.set(ref.root, [...(this.#pending.get(ref.root) ?? []), pendingRef]);
  }

  /** A pending ref is a loose file: only a collection packs refs, and drops the pending ones first. One that can't be removed waits for it. */
  #dropPending(root: string): void {
    const { gitDir, fs } = this.#context;
    for (const ref of this.#pending.get(root) ?? []) {
      const path = join(gitDir, ref);
      try {
        if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) fs.unlink(path);
      } catch (error) {
        if (errorCode(error) === undefined) throw error;
      }
    }
    this.#pending.delete(root);
  }

  async #exists(): Promise<boolean> {
    const exists = await repositoryExists(this.#context);
    await this.#noticeReplacement();
    return exists;
  }

  async #require(action: string): Promise<void> {
    if (await this.#exists()) return;
    throw new WaymarkError(
      'OBJECT_MISSING',
      `Cannot ${action}: shadow repository ${this.#context.gitDir} does not exist`,
    );
  }

  #requireDirectory(hash: ContentHash): void {
    if (lstatSync(this.#context.gitDir, { throwIfNoEntry: false }) !== undefined) return;
    throw new WaymarkError(
      'OBJECT_MISSING',
      `Blob ${hash} is missing: shadow repository ${this.#context.gitDir} does not exist`,
    );
  }

  /** What is remembered of a repository that was removed or replaced by another process is not true any more. */
  async #noticeReplacement(): Promise<void> {
    const inode = lstatSync(this.#context.gitDir, { bigint: true, throwIfNoEntry: false })?.ino;
    if (this.#generation !== undefined && inode !== this.#generation) await this.#objects.forget();
    this.#generation = inode;
  }
}

function damageOf(gitDir: string, message: string): StoreProblem {
  return { where: gitDir, code: 'OBJECT_CORRUPT', message, checkpointId: undefined, path: undefined };
}
