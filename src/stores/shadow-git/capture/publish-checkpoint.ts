import { join } from 'node:path';
import type { CheckpointRecord } from '../../../domain/checkpoint.ts';
import { WaymarkError } from '../../../domain/errors.ts';
import { parseReason, parseSource } from '../../../domain/reasons.ts';
import { temporaryName } from '../../../platform/durable-write.ts';
import { encodeManifest } from '../../manifest/manifest-codec.ts';
import type { PublishedCheckpoint } from '../../snapshot-store.ts';
import type { StoredSnapshot } from '../objects/object-map.ts';
import type { ShadowObjects } from '../objects/shadow-objects.ts';
import { snapshotTrailer } from '../objects/snapshot-trailer.ts';
import { type CheckpointRef, deleteRefs, readRefs, syncRefs } from '../records/checkpoint-refs.ts';
import { commitMessage, writeTable } from '../records/checkpoint-table.ts';
import { readOne } from '../records/read-manifests.ts';
import { contentRef, manifestRef } from '../records/ref-names.ts';
import { blobName, FastImport, type ObjectName } from '../repository/fast-import.ts';
import type { ShadowContext } from '../repository/shadow-context.ts';
import { awaitRefLocks } from '../repository/stage-lock.ts';
import { noteHealth } from './shadow-repository.ts';

/**
 * Gives a checkpoint its two commits and refs, then renews the table and HEAD. Call under the stage lock.
 *
 * @param replace the checkpoint is there already, with another snapshot
 * @throws WaymarkError `CHECKPOINT_IN_USE`, `OBJECT_MISSING`, `VALIDATION_ERROR` for a reason or source that no table row can hold
 */
export async function publishCheckpoint(
  context: ShadowContext,
  objects: ShadowObjects,
  record: CheckpointRecord,
  replace = false,
): Promise<PublishedCheckpoint> {
  const { id, createdAt, metadata, snapshot } = record;
  const message = commitMessage(parseReason(metadata.reason), createdAt, parseSource(metadata.source));
  const stored = await objects.snapshot(snapshot.root, snapshot.rules);
  if (stored === undefined) {
    throw new WaymarkError(
      'OBJECT_MISSING',
      `Snapshot ${snapshot.root} of checkpoint ${id} is not in the shadow repository`,
    );
  }
  const { checkpoints } = await readRefs(context, objects.reader);
  const others = checkpoints.filter((other) => other.id !== id);
  const place = `${record.sessionId} ${record.seq}`;
  const { bytes, digest } = encodeManifest(record);
  const existing = checkpoints.find((other) => other.id === id);
  if (existing !== undefined && !replace) {
    const { sandboxRef, filesystemPath, digest: stored } = await readOne(objects.reader, existing);
    if (stored === digest) return { sandboxRef, filesystemPath, digest };
  }
  if (others.some((other) => other.place === place) || (!replace && existing !== undefined)) {
    throw new WaymarkError('CHECKPOINT_IN_USE', `Checkpoint ${place} exists already`);
  }
  await awaitRefLocks(context, [contentRef(id), manifestRef(id)]);
  const importer = new FastImport(context, 'durable');
  try {
    const { commit, manifestCommit } = await importCommits(importer, record, message, bytes, stored);
    syncRefs(context);
    objects.noteWritten([]);
    const own: CheckpointRef = { id, commit, message, manifestCommit, place, pinned: false };
    writeTable(context, [own, ...others]);
    if (others.every((other) => other.id < id)) pointHead(context, own);
    return { sandboxRef: commit, filesystemPath: contentRef(id), digest };
  } catch (error) {
    await importer.abandon();
    if (!replace) await withdraw(context, objects, record, error);
    throw error;
  }
}

async function importCommits(
  importer: FastImport,
  { id, createdAt, sessionId, seq, snapshot }: CheckpointRecord,
  message: string,
  manifest: Buffer,
  stored: StoredSnapshot,
): Promise<{ readonly commit: ObjectName; readonly manifestCommit: ObjectName }> {
  // the id makes the commits of two checkpoints differ although second, tree and message are the same
  const author = { email: `${id}@waymark`, date: Math.floor(Date.parse(createdAt) / 1000) };
  await importer.blob(manifest);
  const content = await importer.commit(contentRef(id), author, `${message}\n`, [
    { path: '', object: stored.tree, mode: '040000' },
  ]);
  const holder = await importer.commit(
    manifestRef(id),
    author,
    `${sessionId} ${seq}\n\n${snapshotTrailer(snapshot.root, snapshot.rules)}`,
    [
      { path: '', object: stored.holder, mode: '040000' },
      { path: 'manifest.json', object: blobName(manifest), mode: '100644' },
    ],
  );
  importer.askName(content);
  importer.askName(holder);
  const [commit, manifestCommit] = await importer.finish();
  if (commit === undefined || manifestCommit === undefined) {
    throw new WaymarkError('INTERNAL', 'git fast-import did not name the commits it made');
  }
  return { commit, manifestCommit };
}

/** Lets plain `git log` in the repository show the newest checkpoint. After a power cut HEAD is the old or the new one. */
export function pointHead(context: ShadowContext, newest: Pick<CheckpointRef, 'id'>): void {
  const { fs, gitDir } = context;
  const path = join(gitDir, 'HEAD');
  const temporary = temporaryName(path);
  const fd = fs.openWrite(temporary, { exclusive: true });
  try {
    fs.write(fd, Buffer.from(`ref: ${contentRef(newest.id)}\n`));
    fs.fsync(fd);
  } finally {
    fs.close(fd);
  }
  fs.rename(temporary, path);
  noteHealth(context);
}

async function withdraw(
  context: ShadowContext,
  objects: ShadowObjects,
  { id }: CheckpointRecord,
  cause: unknown,
): Promise<void> {
  try {
    const { checkpoints, leftovers } = await readRefs(context, objects.reader);
    const own = [contentRef(id), manifestRef(id)];
    const published = checkpoints.some((checkpoint) => checkpoint.id === id);
    await deleteRefs(context, published ? own : leftovers.filter((ref) => own.includes(ref)));
  } catch {
    context.warn(`Leftovers of checkpoint ${id} stay until the next prune: ${(cause as Error).message}`);
  }
}
