import type { CheckpointRecord } from '../../domain/checkpoint.ts';
import { coverageOf } from '../../domain/coverage.ts';
import type { DraftEdit } from '../../domain/draft.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import { isStored, type Skip, type SnapshotNode, type SnapshotView } from '../../domain/snapshot.ts';
import type { PublishedCheckpoint } from '../snapshot-store.ts';
import { publishCheckpoint } from './publish-checkpoint.ts';
import type { ShadowContext } from './shadow-context.ts';
import type { ShadowObjects } from './shadow-objects.ts';
import { type PendingSnapshot, writeSnapshot } from './write-snapshot.ts';

export type PurgedCheckpoint = PublishedCheckpoint & { readonly record: CheckpointRecord };

/** What a purge needs of the store around it. */
export interface PurgeTools {
  readonly open: (record: CheckpointRecord) => Promise<SnapshotView>;
  readonly settle: (snapshot: PendingSnapshot) => void;
}

/** Writes each record's snapshot again without the content of the matching paths, which become observed as secret. Call under the stage lock. */
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
    const edits = hidingEdits(view, matches);
    if (edits.length === 0) continue;
    const written = await writeSnapshot(context, objects, {
      base: record.snapshot.root,
      edits,
      rules: view.rules,
      truncated: view.truncated,
      read: (path) => {
        throw new WaymarkError('INTERNAL', `A purge reads no file, asked for ${path}`);
      },
    });
    const next: CheckpointRecord = { ...record, snapshot: written.ref };
    const described = { ...next, ...describe(await tools.open(next)) };
    purged.push({ record: described, ...(await publishCheckpoint(context, objects, described, true)) });
    tools.settle(written);
  }
  return purged;
}

function hidingEdits(view: SnapshotView, matches: (path: RelPath) => boolean): readonly DraftEdit[] {
  const edits: DraftEdit[] = [];
  for (const [path, node] of view.nodes()) {
    if (!isStored(node) || node.kind === 'directory' || !matches(path)) continue;
    const size = node.kind === 'file' ? node.size : 0;
    edits.push({ path, node: { kind: 'observed', reason: 'secret', what: node.kind, size } });
  }
  return edits;
}

function describe(view: SnapshotView): Pick<CheckpointRecord, 'coverage' | 'sizeBytes'> {
  let stored = 0;
  let sizeBytes = 0;
  const skips: Skip[] = [];
  for (const [path, node] of view.nodes()) {
    if (isStored(node)) {
      stored += 1;
      sizeBytes += sizeOf(node);
    } else skips.push({ path, reason: node.reason });
  }
  return { coverage: coverageOf(stored, skips, view.truncated), sizeBytes };
}

function sizeOf(node: SnapshotNode): number {
  return node.kind === 'file' ? node.size : 0;
}
