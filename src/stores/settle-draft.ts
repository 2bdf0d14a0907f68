import type { FileReading, SnapshotDraft } from '../domain/draft.ts';
import type { ContentHash } from '../domain/ids.ts';
import type { RelPath } from '../domain/rel-path.ts';
import type { FileEntry, Observed, SnapshotNode } from '../domain/snapshot.ts';
import type { TreeEdit } from './entry-tree/edit-tree.ts';

/** Takes the contents of a capture. Both may answer at once or when there is room again. */
export interface ContentSink {
  put(content: Buffer): ContentHash | Promise<ContentHash>;
  /** Reads a large file, twice where it is new. Undefined: the readings differed. */
  putLarge(content: () => Iterable<Buffer>, size: number): Promise<ContentHash | undefined>;
  /** Throws `OBJECT_MISSING` where the content of an entry that is not read again is not stored. */
  require(entry: FileEntry, path: RelPath): void;
}

export interface SettledDraft {
  /** the draft's edits with every pending file read */
  readonly edits: readonly TreeEdit[];
  /** final nodes of the pending files; undefined: gone */
  readonly read: ReadonlyMap<RelPath, SnapshotNode | undefined>;
}

const UNSTABLE: Omit<Observed, 'size'> = { kind: 'observed', reason: 'unstable', what: 'file' };

/** Reads a draft's pending files in order, one at a time, and hands their contents to the sink. */
export async function settleDraft(draft: SnapshotDraft, sink: ContentSink): Promise<SettledDraft> {
  const edits: TreeEdit[] = [];
  const read = new Map<RelPath, SnapshotNode | undefined>();
  for (const { path, node } of draft.edits) {
    if (node?.kind !== 'pending') {
      if (node?.kind === 'file') sink.require(node, path);
      edits.push({ path, node });
      continue;
    }
    const reading = draft.read(path);
    let final: SnapshotNode | undefined;
    if (!reading.ok) final = reading.node;
    else {
      const pending = storeReading(reading, sink);
      final = pending instanceof Promise ? await pending : pending;
    }
    read.set(path, final);
    edits.push({ path, node: final });
  }
  return { edits, read };
}

/** Not an async function: a promise a file would cost more than storing a small one. */
function storeReading(
  reading: Extract<FileReading, { ok: true }>,
  sink: ContentSink,
): SnapshotNode | Promise<SnapshotNode> {
  const { content, mtimeNs, mode, size } = reading;
  const entry = (hash: ContentHash, length: number): FileEntry => ({
    kind: 'file',
    hash,
    size: length,
    mtimeNs,
    mode,
  });
  if (Buffer.isBuffer(content)) {
    const hash = sink.put(content);
    return typeof hash === 'string'
      ? entry(hash, content.length)
      : hash.then((done) => entry(done, content.length));
  }
  return sink
    .putLarge(content, size)
    .then((hash) => (hash === undefined ? { ...UNSTABLE, size } : entry(hash, size)));
}
