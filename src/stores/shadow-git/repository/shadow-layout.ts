import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type DirHash, isDirHash } from '../../../domain/ids.ts';
import type { WorkspaceIdentity } from '../../../domain/workspace.ts';
import type { HomeLayout } from '../../../platform/home-layout.ts';

/** Where one workspace's shadow repository lies. */
export interface ShadowLocation {
  /** the repository itself (`GIT_DIR`), absolute */
  readonly gitDir: string;
  readonly dirHash: DirHash;
  readonly projectHash: DirHash;
}

/** The table of checkpoints beside the repository's own files, in the form of seed 002. */
export const TABLE_NAME = 'checkpoint-manifest.md';
/** Whose repository it is: a {@link WorkspaceIdentity} as JSON. */
export const WORKSPACE_NAME = 'workspace.json';
/** Cache from content hashes to git's object names; see {@link ObjectMap}. */
export const OBJECT_MAP_NAME = 'waymark.db';

/** Finds the shadow repository of a workspace by its directory hash alone, wherever it lies. */
export function findShadow(layout: HomeLayout, dirHash: DirHash): ShadowLocation | undefined {
  return listShadows(layout).find((location) => location.dirHash === dirHash);
}

/** Where the shadow repository of a workspace lies or will lie. */
export function locateShadow(
  layout: HomeLayout,
  identity: Pick<WorkspaceIdentity, 'dirHash' | 'projectHash'>,
): ShadowLocation {
  const home = locationOf(layout, identity.projectHash, identity.dirHash);
  return isDirectory(home.gitDir) ? home : (findShadow(layout, identity.dirHash) ?? home);
}

/** Every shadow repository of a home, in a fixed order. */
export function listShadows(layout: HomeLayout): readonly ShadowLocation[] {
  return namesIn(layout.projects).flatMap((projectHash) =>
    namesIn(join(layout.projects, projectHash, 'checkpoints'))
      .map((dirHash) => locationOf(layout, projectHash, dirHash))
      .filter(({ gitDir }) => isDirectory(gitDir)),
  );
}

function locationOf(layout: HomeLayout, projectHash: DirHash, dirHash: DirHash): ShadowLocation {
  return { gitDir: join(layout.projects, projectHash, 'checkpoints', dirHash), dirHash, projectHash };
}

function namesIn(directory: string): readonly DirHash[] {
  try {
    return readdirSync(directory).filter(isDirHash).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
