import { createHash } from 'node:crypto';
import type { ContentHash } from '../domain/ids.ts';
import type { RelPath } from '../domain/rel-path.ts';
import type { FileEntry } from '../domain/snapshot.ts';
import type { ContentMerge } from '../restore/plan/plan-apply.ts';
import { mergeBytes } from '../worktree/merge/three-way-merge.ts';

/** Larger files are not merged, bytes: all three versions lie in memory. */
const MAX_MERGED = 8 * 1024 ** 2;

/** A merged file, with its content. */
export interface MergedFile {
  readonly entry: FileEntry;
  readonly content: Buffer;
}

/** Reads the three versions of a file; undefined where one is not at hand. */
export interface MergeSources {
  readonly base: (merge: ContentMerge) => Promise<Buffer | undefined>;
  readonly ours: (merge: ContentMerge) => Promise<Buffer | undefined>;
  readonly theirs: (merge: ContentMerge) => Promise<Buffer | undefined>;
}

/** Merges the files that can be: text whose changes do not touch. */
export async function mergeFiles(
  merges: readonly ContentMerge[],
  sources: MergeSources,
): Promise<ReadonlyMap<RelPath, MergedFile>> {
  const merged = new Map<RelPath, MergedFile>();
  for (const merge of merges) {
    const file = await mergeFile(merge, sources);
    if (file !== undefined) merged.set(merge.path, file);
  }
  return merged;
}

async function mergeFile(merge: ContentMerge, sources: MergeSources): Promise<MergedFile | undefined> {
  const { base, ours, theirs, mode } = merge;
  if ([base, ours, theirs].some(({ size }) => size > MAX_MERGED)) return undefined;
  const versions = await Promise.all([
    versionOf(base, sources.base(merge)),
    versionOf(ours, sources.ours(merge)),
    versionOf(theirs, sources.theirs(merge)),
  ]);
  const [a, b, c] = versions;
  if (a === undefined || b === undefined || c === undefined) return undefined;
  const result = mergeBytes(a, b, c);
  if (result.kind !== 'merged') return undefined;
  const content = Buffer.from(result.bytes);
  return { content, entry: { kind: 'file', hash: hashOf(content), size: content.length, mtimeNs: 0n, mode } };
}

/** A version that is not the planned one any more is not merged. */
async function versionOf(
  entry: FileEntry,
  reading: Promise<Buffer | undefined>,
): Promise<Buffer | undefined> {
  const content = await reading;
  return content !== undefined && hashOf(content) === entry.hash ? content : undefined;
}

function hashOf(content: Buffer): ContentHash {
  return createHash('sha256').update(content).digest('hex') as ContentHash;
}
