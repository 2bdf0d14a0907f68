import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { isWaymarkError, WaymarkError } from '../../../domain/errors.ts';
import { durableWrite, syncDirectory } from '../../../platform/durable-write.ts';
import type { FileSystem } from '../../../platform/file-system.ts';
import type { HomeLayout } from '../../../platform/home-layout.ts';
import { errorCode, systemError } from '../../../platform/system-error.ts';
import type { CheckpointLocation } from '../../snapshot-store.ts';
import { manifestPath, pinPath, readManifest } from './manifest-files.ts';

/** Removes a checkpoint's manifest and pin mark durably. Leaves what belongs to another id or is of another format; a damaged manifest goes. */
export function retractManifest(fs: FileSystem, layout: HomeLayout, where: CheckpointLocation): void {
  if (isOthers(layout, where)) return;
  const path = manifestPath(layout, where);
  // The manifest first: a pin without one is harmless, a checkpoint that lost its pin may be pruned.
  const removed = [remove(fs, path), remove(fs, pinPath(layout, where))];
  if (removed.includes(true)) syncDirectory(fs, dirname(path));
}

/** Puts or removes the pin mark. @throws WaymarkError `CHECKPOINT_NOT_FOUND` where there is nothing to pin */
export function pinManifest(
  fs: FileSystem,
  layout: HomeLayout,
  where: CheckpointLocation,
  pinned: boolean,
): void {
  const path = pinPath(layout, where);
  if (pinned && !existsSync(manifestPath(layout, where))) {
    throw new WaymarkError('CHECKPOINT_NOT_FOUND', `No manifest of ${where.sessionId} ${where.seq} to pin`);
  }
  if (pinned === existsSync(path)) return;
  try {
    if (pinned) durableWrite(fs, path, Buffer.alloc(0));
    else if (remove(fs, path)) syncDirectory(fs, dirname(path));
  } catch (error) {
    throw systemError(error, 'write', path);
  }
}

function isOthers(layout: HomeLayout, where: CheckpointLocation): boolean {
  try {
    return readManifest(layout, where).record.id !== where.id;
  } catch (error) {
    if (!isWaymarkError(error)) throw error;
    if (error.code === 'PERMISSION_DENIED' || error.code === 'IO_ERROR') throw error;
    return error.code === 'FORMAT_UNSUPPORTED';
  }
}

function remove(fs: FileSystem, path: string): boolean {
  try {
    fs.unlink(path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw systemError(error, 'remove', path);
  }
}
