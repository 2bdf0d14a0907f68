import type { CheckpointRecord } from '../../../domain/checkpoint.ts';
import type { DraftEdit } from '../../../domain/draft.ts';
import { WaymarkError } from '../../../domain/errors.ts';
import type { RelPath } from '../../../domain/rel-path.ts';
import { isStored, type SnapshotView } from '../../../domain/snapshot.ts';
import { purgeRecord } from '../../purge-record.ts';
import type { PublishedCheckpoint } from '../../snapshot-store.ts';
import { publishCheckpoint } from '../capture/publish-checkpoint.ts';
import { type PendingSnapshot, writeSnapshot } from '../capture/write-snapshot.ts';
import type { ShadowObjects } from '../objects/shadow-objects.ts';
import type { ShadowContext } from '../repository/shadow-context.ts';

export type PurgedCheckpoint = PublishedCheckpoint & { readonly record: CheckpointRecord };

/** What a purge needs of the store around it. */
export interface PurgeTools {
  readonly open: (record: CheckpointRecord) => Promise<SnapshotView>;
  /** The snapshot has got its checkpoint. */
  readonly settle: (snapshot: PendingSnapshot) => void;
}

/** Writes each record's snapshot again without the matching paths, which become observed as secret. Call under the stage lock. */
export async function purgePaths(
  context: ShadowContext,
  objects: ShadowObjects,
  records: Iterable<CheckpointRecord>,
  matches: (path: RelPath) => boolean,
  tools: PurgeTools,
): Promise<readonly PurgedCheckpoint[]> {
  const purged: PurgedCheckpoint[] = [];
  for (const record of records) {
    const view = await tools.open(record);
    const result = purgeRecord(record, view, matches, await objects.nodes(record.snapshot.root));
    if (result === undefined) continue;
    const written = await writeSnapshot(context, objects, {
      base: record.snapshot.root,
      edits: hidingEdits(view, matches),
      rules: view.rules,
      truncated: view.truncated,
      read: (path) => {
        throw new WaymarkError('INTERNAL', `A purge reads no file, asked for ${path}`);
      },
    });
    const next: CheckpointRecord = { ...result.record, snapshot: written.ref };
    purged.push({ record: next, ...(await publishCheckpoint(context, objects, next, true)) });
    tools.settle(written);
  }
  return purged;
}

function hidingEdits(view: SnapshotView, matches: (path: RelPath) => boolean): readonly DraftEdit[] {
  const edits: DraftEdit[] = [];
  for (const [path, node] of view.nodes()) {
    if (!isStored(node) || !matches(path)) continue;
    const size = node.kind === 'file' ? node.size : 0;
    edits.push({ path, node: { kind: 'observed', reason: 'secret', what: node.kind, size } });
  }
  return edits;
}
