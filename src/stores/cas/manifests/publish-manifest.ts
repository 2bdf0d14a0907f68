import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { CheckpointRecord } from '../../../domain/checkpoint.ts';
import { isWaymarkError, WaymarkError } from '../../../domain/errors.ts';
import { durableWrite, temporaryName } from '../../../platform/durable-write.ts';
import type { FileSystem } from '../../../platform/file-system.ts';
import type { HomeLayout } from '../../../platform/home-layout.ts';
import { errorCode, systemError } from '../../../platform/system-error.ts';
import { encodeManifest } from '../../manifest/manifest-codec.ts';
import type { PublishedCheckpoint } from '../../snapshot-store.ts';
import { makeDurableDirectory, syncName } from '../packs/durable-directory.ts';
import { manifestPath, readManifest } from './manifest-files.ts';

/**
 * Writes a record's manifest durably and atomically. The same checkpoint may be published again; another one's place is never taken.
 *
 * @throws WaymarkError `CHECKPOINT_IN_USE`, `NO_SPACE`, `PERMISSION_DENIED`, `IO_ERROR`
 */
export function publishManifest(
  fs: FileSystem,
  layout: HomeLayout,
  record: CheckpointRecord,
): PublishedCheckpoint {
  const path = manifestPath(layout, record);
  const { bytes, digest } = encodeManifest(record);
  try {
    makeDurableDirectory(fs, dirname(path));
    if (!createExclusively(fs, path, bytes)) {
      checkOwn(layout, record);
      durableWrite(fs, path, bytes);
    }
  } catch (error) {
    throw systemError(error, 'write', path);
  }
  return {
    sandboxRef: `cas:${record.sessionId}/${record.seq}`,
    filesystemPath: path.slice(layout.home.length + 1),
    digest,
  };
}

/** Replaces a checkpoint's manifest by that of its changed record. Throws as {@link publishManifest} does. */
export function replaceManifest(
  fs: FileSystem,
  layout: HomeLayout,
  record: CheckpointRecord,
): PublishedCheckpoint {
  checkOwn(layout, record);
  return publishManifest(fs, layout, record);
}

/** Writes a new file through a temporary one and a hard link, which fails where the name is taken. False: it is taken. */
function createExclusively(fs: FileSystem, path: string, bytes: Buffer): boolean {
  if (existsSync(path)) return false;
  const temporary = temporaryName(path);
  const fd = fs.openWrite(temporary, { exclusive: true, mode: 0o600 });
  let created: boolean;
  try {
    try {
      fs.write(fd, bytes);
      fs.fsync(fd);
    } finally {
      fs.close(fd);
    }
    created = linkInto(fs, temporary, path);
  } catch (error) {
    removeQuietly(fs, temporary);
    throw error;
  }
  removeQuietly(fs, temporary);
  if (created) syncName(fs, path);
  return created;
}

function linkInto(fs: FileSystem, temporary: string, path: string): boolean {
  try {
    fs.link(temporary, path);
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST') return false;
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP' && code !== 'EMLINK') throw error;
    // No hard links here. The catalog gives a seq out once, so looking before the rename is enough.
    if (existsSync(path)) return false;
    fs.rename(temporary, path);
    return true;
  }
}

function checkOwn(layout: HomeLayout, record: CheckpointRecord): void {
  let owner: string;
  try {
    owner = readManifest(layout, record).record.id;
  } catch (error) {
    if (!isWaymarkError(error)) throw error;
    owner = 'a manifest that cannot be read';
  }
  if (owner !== record.id) {
    throw new WaymarkError('CHECKPOINT_IN_USE', `${record.sessionId} ${record.seq} is taken by ${owner}`);
  }
}

function removeQuietly(fs: FileSystem, path: string): void {
  try {
    fs.unlink(path);
  } catch {
    // Either it was renamed, or what led here gets reported and collection sweeps what is left.
  }
}
