import { isWaymarkError } from '../../../domain/errors.ts';
import type { CheckpointId, ContentHash } from '../../../domain/ids.ts';
import type { HomeLayout } from '../../../platform/home-layout.ts';
import { treeBlobs } from '../../entry-tree/tree-blobs.ts';
import type { StoreProblem } from '../../snapshot-store.ts';
import { readManifests } from '../manifests/manifest-files.ts';
import type { PackSet } from '../packs/pack-set.ts';

/** What the manifests of all sessions need, or why that cannot be told. */
export interface LiveBlobs {
  readonly live: ReadonlySet<ContentHash>;
  readonly blockedBy: readonly StoreProblem[];
}

/**
 * Marks from every manifest but those assumed gone. A manifest, tree node or rules blob that cannot be read might need anything: each is a reason not
 * to collect.
 */
export function liveBlobs(
  packs: PackSet,
  layout: HomeLayout,
  assumeGone: ReadonlySet<CheckpointId> | undefined,
): LiveBlobs {
  const { manifests, problems } = readManifests(layout);
  const blockedBy: StoreProblem[] = [...problems];
  const live = new Set<ContentHash>();
  const visited = new Set<ContentHash>();
  for (const { record, filesystemPath } of manifests) {
    if (assumeGone?.has(record.id)) continue;
    live.add(record.snapshot.rules);
    try {
      for (const { hash } of treeBlobs(record.snapshot.root, (hash) => packs.read(hash), visited))
        live.add(hash);
    } catch (error) {
      if (!isWaymarkError(error)) throw error;
      const code = error.code === 'OBJECT_MISSING' ? error.code : 'OBJECT_CORRUPT';
      blockedBy.push({
        where: filesystemPath,
        code,
        message: error.message,
        checkpointId: record.id,
        path: undefined,
      });
    }
  }
  return { live, blockedBy };
}
