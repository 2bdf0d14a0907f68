import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, readlinkSync } from 'node:fs';
import type { Checkpoint } from '../../domain/checkpoint.ts';
import type { DraftEdit, FileReading, SnapshotDraft } from '../../domain/draft.ts';
import { comparePaths, decodeName, type RelPath, toFsPath } from '../../domain/rel-path.ts';
import type { Displaced } from '../../restore/apply/apply-run.ts';
import type { SnapshotStore } from '../../stores/snapshot-store.ts';
import { commitCheckpoint } from '../capture/commit-checkpoint.ts';
import { countSnapshot, describeSnapshot } from '../capture/describe-snapshot.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';

/**
 * Adds to the safety checkpoint what a restore moved out of the way and no snapshot held, as a further safety checkpoint of the same state.
 * Undefined: nothing was displaced.
 */
export async function holdDisplaced(
  context: WorkspaceContext,
  store: SnapshotStore,
  safety: Checkpoint,
  displaced: readonly Displaced[],
): Promise<Checkpoint | undefined> {
  if (displaced.length === 0) return undefined;
  const held = await store.open(safety.snapshot);
  const places = new Map(
    displaced.map(({ path, temporary }) => [path, `${context.identity.path}/${temporary}`]),
  );
  const draft: SnapshotDraft = {
    base: safety.snapshot.root,
    rules: held.rules,
    truncated: held.truncated,
    edits: displaced
      .map((item) => editOf(context.identity.path, item))
      .sort((a, b) => comparePaths(a.path, b.path)),
    read: (path) => readDisplaced(places.get(path) ?? ''),
  };
  return await commitCheckpoint(context, store, safety, async () =>
    describeSnapshot(await store.write(draft), draft, countSnapshot(held)),
  );
}

function editOf(root: string, { path, temporary, kind }: Displaced): DraftEdit {
  const place = toFsPath(`${root}/${temporary as RelPath}`);
  const { size, mtimeNs } = lstatSync(place, { bigint: true });
  if (kind === 'file') return { path, node: { kind: 'pending', statedSize: Number(size) } };
  const target = decodeName(readlinkSync(place, { encoding: 'buffer' }));
  return { path, node: { kind: 'symlink', target, mtimeNs } };
}

function readDisplaced(place: string): FileReading {
  const fd = openSync(toFsPath(place), constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { mode, mtimeNs } = fstatSync(fd, { bigint: true });
    const content = readFileSync(fd);
    return { ok: true, size: content.length, mtimeNs, mode: Number(mode & 0o7777n), content };
  } finally {
    closeSync(fd);
  }
}
