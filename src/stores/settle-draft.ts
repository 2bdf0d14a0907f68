import type { FileReading, PlacedReading, SnapshotDraft } from '../domain/draft.ts';
import type { ContentHash } from '../domain/ids.ts';
import type { RelPath } from '../domain/rel-path.ts';
import { type SettledEdits, settledEdits } from '../domain/settled-edits.ts';
import type { FileEntry, Observed, SnapshotNode } from '../domain/snapshot.ts';

/** Takes the contents of a capture. Both may answer at once or when there is room again. */
export interface ContentSink {
  /**
   * @param content is the sink's only until it answers
   * @param hash of the content, where it is known
   */
  put(content: Buffer, hash?: ContentHash): ContentHash | Promise<ContentHash>;
  /** Reads a large file, twice where it is new. Undefined: the readings differed. */
  putLarge(content: () => Iterable<Buffer>, size: number): Promise<ContentHash | undefined>;
  /** Throws `OBJECT_MISSING` where the content of an entry that is not read again is not stored. */
  require(entry: FileEntry, path: RelPath): void;
}

export interface SettledDraft extends SettledEdits {
  /** final nodes of the pending files; undefined: gone */
  readonly read: ReadonlyMap<RelPath, SnapshotNode | undefined>;
}

const UNSTABLE: Omit<Observed, 'size'> = { kind: 'observed', reason: 'unstable', what: 'file' };

/** Reads a draft's pending files and hands their contents to the sink, one at a time. */
export async function settleDraft(draft: SnapshotDraft, sink: ContentSink): Promise<SettledDraft> {
  const pending: RelPath[] = [];
  for (const { path, node } of draft.edits) {
    if (node?.kind === 'pending') pending.push(path);
  }
  const finals = new Array<SnapshotNode | undefined>(pending.length);
  for await (const readings of draft.readMany?.(pending) ?? readEach(draft, pending)) {
    for (const { at, reading } of readings) {
      const final = reading.ok ? storeReading(reading, sink) : reading.node;
      finals[at] = final instanceof Promise ? await final : final;
    }
  }
  const read = new Map(pending.map((path, at) => [path, finals[at]]));
  for (const { path, node } of draft.edits) if (node?.kind === 'file') sink.require(node, path);
  return { ...settledEdits(draft, read), read };
}

function* readEach(draft: SnapshotDraft, paths: readonly RelPath[]): Generator<readonly PlacedReading[]> {
  for (const [at, path] of paths.entries()) yield [{ at, reading: draft.read(path) }];
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
    const hash = sink.put(content, reading.hash);
    return typeof hash === 'string'
      ? entry(hash, content.length)
      : hash.then((done) => entry(done, content.length));
  }
  return sink
    .putLarge(content, size)
    .then((hash) => (hash === undefined ? { ...UNSTABLE, size } : entry(hash, size)));
}
