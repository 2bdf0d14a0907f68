import { isWaymarkError, WaymarkError } from '../../../domain/errors.ts';
import type { CheckpointId } from '../../../domain/ids.ts';
import { decodeManifest } from '../../manifest/manifest-codec.ts';
import type { CheckpointLocation, StoredManifest, StoreProblem } from '../../snapshot-store.ts';
import type { ObjectReader } from '../repository/object-reader.ts';
import type { ShadowContext } from '../repository/shadow-context.ts';
import { type CheckpointRef, readRefs } from './checkpoint-refs.ts';
import { contentRef, manifestRef } from './ref-names.ts';

/** Reads the manifests of all checkpoints, newest first; those that can't be read come back as problems. */
export async function readManifests(
  context: ShadowContext,
  reader: ObjectReader,
): Promise<{ readonly manifests: readonly StoredManifest[]; readonly problems: readonly StoreProblem[] }> {
  const { checkpoints } = await readRefs(context, reader);
  const manifests: StoredManifest[] = [];
  const problems: StoreProblem[] = [];
  for (const checkpoint of checkpoints) {
    try {
      manifests.push(await readOne(reader, checkpoint));
    } catch (error) {
      problems.push(problemFrom(error, manifestRef(checkpoint.id), checkpoint.id));
    }
  }
  return { manifests, problems };
}

/** @throws WaymarkError `OBJECT_MISSING`, `OBJECT_CORRUPT`, `MANIFEST_INVALID`, `FORMAT_UNSUPPORTED` */
export async function readManifest(
  context: ShadowContext,
  reader: ObjectReader,
  where: CheckpointLocation,
): Promise<StoredManifest> {
  const { checkpoints } = await readRefs(context, reader);
  const checkpoint = checkpoints.find(({ id }) => id === where.id);
  if (checkpoint === undefined) {
    throw new WaymarkError('OBJECT_MISSING', `Checkpoint ${where.id} is not in the shadow repository`);
  }
  const manifest = await readOne(reader, checkpoint);
  if (manifest.record.sessionId !== where.sessionId || manifest.record.seq !== where.seq) {
    throw new WaymarkError(
      'MANIFEST_INVALID',
      `Manifest of ${where.id} is not that of ${where.sessionId} ${where.seq}`,
    );
  }
  return manifest;
}

/** Reads the manifest behind a checkpoint's refs. */
export async function readOne(reader: ObjectReader, checkpoint: CheckpointRef): Promise<StoredManifest> {
  const { id, commit, manifestCommit, pinned } = checkpoint;
  const { content } = await reader.read(`${manifestCommit}:manifest.json`);
  const { record, digest } = decodeManifest(content, `Manifest of checkpoint ${id}`);
  if (record.id !== id)
    throw new WaymarkError('MANIFEST_INVALID', `Manifest of checkpoint ${id} names ${record.id}`);
  return { record, digest, sandboxRef: commit, filesystemPath: contentRef(id), pinned };
}

/** Turns what reading threw into a problem; errors of the machine are thrown on. */
export function problemFrom(
  error: unknown,
  where: string,
  checkpointId: CheckpointId | undefined,
  path?: StoreProblem['path'],
): StoreProblem {
  if (!isWaymarkError(error)) throw error;
  const { code, message } = error;
  if (code === 'UNSAFE_PATH' || code === 'VALIDATION_ERROR') {
    return { where, code: 'MANIFEST_INVALID', message, checkpointId, path };
  }
  if (
    code === 'OBJECT_MISSING' ||
    code === 'OBJECT_CORRUPT' ||
    code === 'MANIFEST_INVALID' ||
    code === 'FORMAT_UNSUPPORTED'
  ) {
    return { where, code, message, checkpointId, path };
  }
  throw error;
}
