import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { WaymarkError } from '../../domain/errors.ts';
import type { DirHash } from '../../domain/ids.ts';
import type { WorkspaceIdentity } from '../../domain/workspace.ts';
import { syncDirectory } from '../../platform/durable-write.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import type { HomeLayout } from '../../platform/home-layout.ts';
import type { Locks } from '../../platform/lock.ts';
import { removeDirectory } from '../../platform/remove-directory.ts';
import { diskSize } from '../disk-size.ts';
import { findShadow, listShadows, type ShadowLocation, WORKSPACE_NAME } from './repository/shadow-layout.ts';

/** A shadow repository as `store list` shows it. */
export interface ShadowStore extends ShadowLocation {
  /** undefined where the note beside the repository is missing or damaged */
  readonly identity: WorkspaceIdentity | undefined;
}

/** Lists the shadow repositories of a home. Runs no git. */
export function listShadowStores(layout: HomeLayout): readonly ShadowStore[] {
  return listShadows(layout).map((location) => ({ ...location, identity: workspaceOf(location) }));
}

/**
 * Removes the shadow repository of a workspace with all its checkpoints. Returns the bytes given back.
 *
 * @throws WaymarkError `STORE_NOT_FOUND`, `STORE_BUSY`
 */
export async function removeShadowStore(options: {
  readonly layout: HomeLayout;
  readonly fs: FileSystem;
  readonly locks: Locks;
  readonly dirHash: DirHash;
  readonly waitMs: number;
}): Promise<number> {
  const { layout, fs, locks, dirHash, waitMs } = options;
  using hold = await locks.acquire(`store-git-${dirHash}`, 'exclusive', waitMs);
  using stage = hold && (await locks.acquire(`store-git-${dirHash}-stage`, 'exclusive', waitMs));
  if (stage === undefined)
    throw new WaymarkError('STORE_BUSY', `The shadow repository ${dirHash} stays in use`);
  const location = findShadow(layout, dirHash);
  if (location === undefined) throw new WaymarkError('STORE_NOT_FOUND', `No shadow repository ${dirHash}`);
  const bytes = diskSize(location.gitDir);
  const removed = `${location.gitDir}.removed-${randomBytes(6).toString('hex')}`;
  fs.rename(location.gitDir, removed);
  syncDirectory(fs, dirname(location.gitDir));
  removeDirectory(fs, removed);
  return bytes;
}

function workspaceOf({ gitDir, dirHash }: ShadowLocation): WorkspaceIdentity | undefined {
  try {
    const workspace = JSON.parse(readFileSync(join(gitDir, WORKSPACE_NAME), 'utf8')) as WorkspaceIdentity;
    return workspace.dirHash === dirHash ? workspace : undefined;
  } catch {
    return undefined;
  }
}
