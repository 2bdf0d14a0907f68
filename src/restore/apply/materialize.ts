import { lstatSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { isWaymarkError, WaymarkError } from '../../domain/errors.ts';
import {
  comparePaths,
  parentOf,
  parseRelPath,
  quotePath,
  type RelPath,
  toFsPath,
} from '../../domain/rel-path.ts';
import {
  type DirectoryEntry,
  type Entry,
  type FileEntry,
  isStored,
  type Skip,
  type SkipReason,
  type SnapshotView,
} from '../../domain/snapshot.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import { compileSelection } from '../plan/match-selection.ts';
import type { Selection } from '../plan/restore-plan.ts';
import type { ContentSource } from './apply-run.ts';
import { failure, skipReasonOf } from './failure.ts';
import { FileBatch, MOST_BYTES } from './file-batch.ts';
import { pourContent } from './pour-content.ts';
import { modeOfNewFile, placeIn } from './set-id.ts';
import { openTree, type WorkspaceTree } from './workspace-tree.ts';
import { closeNewFile, openNewFile } from './write-batch.ts';
import { writeInParallel } from './write-in-parallel.ts';

export interface MaterializeInput {
  readonly view: SnapshotView;
  /** of the view, in path order: {@link entriesToWrite} */
  readonly entries: readonly EntryToWrite[];
  /** absolute: the directory that the view is a snapshot of, there or not; it tells who can have put a file there */
  readonly origin: string;
  /** absolute, its parent exists as a real path; missing or empty */
  readonly into: string;
  readonly content: ContentSource;
  readonly fs: FileSystem;
  readonly preserveMtime?: boolean;
  readonly onProgress?: (done: number) => void;
  readonly signal?: AbortSignal | undefined;
  /** Writes on another thread; default: where that is worth it. */
  readonly onThread?: boolean;
}

export type EntryToWrite = readonly [RelPath, Entry];

/**
 * Lists the stored entries of a snapshot that a selection takes.
 *
 * @throws WaymarkError `PATH_NOT_FOUND`, `UNSAFE_PATH` for a bad selection, and for a snapshot that names places outside
 */
export function entriesToWrite(view: SnapshotView, { paths }: Selection): readonly EntryToWrite[] {
  const { includes } = compileSelection(paths, [view]);
  const entries: EntryToWrite[] = [];
  for (const [path, node] of view.nodes()) {
    parseRelPath(path);
    if (isStored(node) && includes(path)) entries.push([path, node]);
  }
  return entries;
}

/**
 * Writes entries of a snapshot into a missing or empty directory, with the directories above them: content, modes, links. Many files are written by
 * another thread.
 *
 * @returns what could not be written, in path order
 * @throws WaymarkError `TARGET_NOT_EMPTY` before anything is written; `NO_SPACE`, `IO_ERROR`, `OBJECT_MISSING`, `OBJECT_CORRUPT`, `INTERRUPTED` half way:
 * what is there by then is whole, and nothing else was touched
 */
export async function materialize(input: MaterializeInput): Promise<readonly Skip[]> {
  const { view, entries, fs, into } = input;
  prepareDirectory(fs, into);
  using tree = openTree(into);
  await using writing = writeInParallel(tree, fs, input.onThread ?? isWorthAThread(fs, entries.length));
  const skips = new Map<RelPath, Skip>();
  const directories = new Map<RelPath, DirectoryEntry>();
  const skip = (path: RelPath, reason: SkipReason, detail: string): void =>
    void skips.set(path, { path, reason, detail });
  const requireDirectory = (path: RelPath | '', known?: DirectoryEntry): void => {
    if (path === '' || directories.has(path)) return;
    requireDirectory(parentOf(path));
    const node = known ?? view.get(path);
    fs.mkdir(tree.locate(path), 0o700);
    directories.set(path, node?.kind === 'directory' ? node : PLAIN_DIRECTORY);
  };
  let batch = new FileBatch(into, input.preserveMtime === true);
  const flush = async (): Promise<void> => {
    if (batch.count > 0) await writing.write(batch.order());
    batch = new FileBatch(into, input.preserveMtime === true);
  };
  const writeFile = async (path: RelPath, entry: FileEntry): Promise<void> => {
    if (entry.size > MOST_BYTES) {
      await writeLarge(input, tree, path, entry);
      return;
    }
    if (!batch.hasRoomFor(entry)) await flush();
    await batch.add(path, entry, input.content);
  };

  let done = 0;
  for (const [path, entry] of entries) {
    try {
      if (done % ENTRIES_BETWEEN_LOOKS === 0) {
        if (input.signal?.aborted) throw interrupted(into);
        await setImmediate();
        tree.lookAgain();
      }
      if (entry.kind === 'directory') requireDirectory(path, entry);
      else requireDirectory(parentOf(path));
      if (entry.kind === 'file') {
        const mode = modeOfNewFile(entry.mode, placeIn(input.origin, path));
        if (mode !== entry.mode)
          skip(path, 'blocked', 'Written without set-user-ID and set-group-ID; whose it was is not known');
        await writeFile(path, { ...entry, mode });
      } else if (entry.kind === 'symlink') fs.symlink(entry.target, tree.locate(path));
    } catch (error) {
      skip(path, reasonOf(error, path), (error as Error).message);
    }
    done += 1;
    input.onProgress?.(done);
  }
  await flush();
  for (const { path, code, message } of await writing.finish()) {
    skip(path, reasonOf(failure(code, message), path), message);
  }
  tree.lookAgain();
  for (const [path, { mode }] of [...directories].sort(([a], [b]) => comparePaths(b, a))) {
    fs.chmod(tree.locate(path), mode);
  }
  fs.fsyncDirectory(tree.directory(''));
  return [...skips.values()].sort((a, b) => comparePaths(a.path, b.path));
}

/** Nothing is to be recovered: the directory is new, and can be made again. */
const AGAIN = 'Remove the directory, or name another one, and try again';

/** @throws WaymarkError as {@link skipReasonOf}, with the way out of this */
function reasonOf(error: unknown, path: RelPath): SkipReason {
  try {
    return skipReasonOf(error, path);
  } catch (thrown) {
    if (!isWaymarkError(thrown, 'NO_SPACE', 'IO_ERROR')) throw thrown;
    throw new WaymarkError(thrown.code, thrown.message, { hint: AGAIN, cause: thrown.cause });
  }
}

function interrupted(into: string): WaymarkError {
  return new WaymarkError('INTERRUPTED', `Writing into ${quotePath(into)} was interrupted`, { hint: AGAIN });
}

/** Entries from which on another thread is worth its start. */
const WORTH_A_THREAD = 1500;

/** Whoever watches each call has to see it. */
function isWorthAThread(fs: FileSystem, entries: number): boolean {
  return !fs.isWatched && entries >= WORTH_A_THREAD && availableParallelism() > 1;
}

/**
 * Nobody has anything in the new directories yet; each is held by a handle, and no link is followed. Whoever moves one away meanwhile gets, and is told
 * nothing of, at most so many entries in it.
 */
const ENTRIES_BETWEEN_LOOKS = 64;

const PLAIN_DIRECTORY: DirectoryEntry = {
  kind: 'directory',
  mode: 0o755,
  mtimeNs: 0n,
  listing: 'partial',
};

function prepareDirectory(fs: FileSystem, into: string): void {
  const stats = lstatSync(toFsPath(into), { throwIfNoEntry: false });
  if (stats === undefined) {
    fs.mkdir(into, 0o755);
    fs.fsyncDirectory(dirname(into));
  } else if (!stats.isDirectory() || readdirSync(toFsPath(into)).length > 0) {
    throw new WaymarkError('TARGET_NOT_EMPTY', `${quotePath(into)} is not an empty directory`, {
      hint: 'Name a directory that is missing or empty; a link is none',
    });
  }
}

async function writeLarge(
  { fs, content, preserveMtime }: MaterializeInput,
  tree: WorkspaceTree,
  path: RelPath,
  entry: FileEntry,
): Promise<void> {
  const fd = openNewFile(fs, tree, path, entry.mode);
  let whole = false;
  try {
    await pourContent(fs, fd, entry, content);
    whole = true;
  } finally {
    closeNewFile(fs, tree, path, fd, whole);
  }
  if (preserveMtime === true) fs.utimes(tree.locate(path), entry.mtimeNs, entry.mtimeNs);
}
