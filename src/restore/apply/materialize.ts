import { lstatSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { WaymarkError } from '../../domain/errors.ts';
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
  type SnapshotView,
} from '../../domain/snapshot.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import { compileSelection } from '../plan/match-selection.ts';
import type { Selection } from '../plan/restore-plan.ts';
import type { ContentSource } from './apply-run.ts';
import { skipReasonOf } from './failure.ts';
import { pourContent } from './pour-content.ts';
import { modeOfNewFile, placeIn } from './set-id.ts';
import { openTree, type WorkspaceTree } from './workspace-tree.ts';

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
  readonly onProgress?: (written: number) => void;
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
 * Writes entries of a snapshot into a missing or empty directory, with the directories above them: content, modes, links.
 *
 * @returns what could not be written
 * @throws WaymarkError `TARGET_NOT_EMPTY` before anything is written; `NO_SPACE`, `IO_ERROR`, `OBJECT_MISSING`, `OBJECT_CORRUPT` half way:
 * what is there by then is whole, and nothing else was touched
 */
export async function materialize(input: MaterializeInput): Promise<readonly Skip[]> {
  const { view, entries, fs, into } = input;
  prepareDirectory(fs, into);
  using tree = openTree(into);
  const skips: Skip[] = [];
  const directories = new Map<RelPath, DirectoryEntry>();
  let written = 0;
  let directory: RelPath | '' = '';
  const requireDirectory = (path: RelPath | ''): void => {
    if (path === '' || directories.has(path)) return;
    requireDirectory(parentOf(path));
    const node = view.get(path);
    fs.mkdir(tree.locate(path), 0o700);
    directories.set(path, node?.kind === 'directory' ? node : PLAIN_DIRECTORY);
  };

  for (const [path, entry] of entries) {
    try {
      if (parentOf(path) !== directory) tree.lookAgain();
      directory = parentOf(path);
      requireDirectory(entry.kind === 'directory' ? path : parentOf(path));
      if (entry.kind === 'file') {
        const mode = modeOfNewFile(entry.mode, placeIn(input.origin, path));
        await writeFile(input, tree, path, { ...entry, mode });
        if (mode !== entry.mode)
          skips.push({
            path,
            reason: 'blocked',
            detail: 'Written without set-user-ID and set-group-ID; whose it was is not known',
          });
      } else if (entry.kind === 'symlink') fs.symlink(entry.target, tree.locate(path));
      written += 1;
    } catch (error) {
      skips.push({ path, reason: skipReasonOf(error, path), detail: (error as Error).message });
    }
    input.onProgress?.(written);
  }
  for (const [path, { mode }] of [...directories].sort(([a], [b]) => comparePaths(b, a))) {
    fs.chmod(tree.locate(path), mode);
  }
  fs.fsyncDirectory(tree.directory(''));
  return skips;
}

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

async function writeFile(
  { fs, content, preserveMtime }: MaterializeInput,
  tree: WorkspaceTree,
  path: RelPath,
  entry: FileEntry,
): Promise<void> {
  const { mode, mtimeNs } = entry;
  const fd = fs.openWrite(tree.locate(path), { exclusive: true, mode: mode & 0o777 });
  let whole = false;
  try {
    await pourContent(fs, fd, entry, content);
    // the opening gives all other bits
    if (mode > 0o777) fs.fchmod(fd, mode);
    whole = true;
  } finally {
    fs.close(fd);
    if (!whole) fs.unlink(tree.locate(path));
  }
  if (preserveMtime === true) fs.utimes(tree.locate(path), mtimeNs, mtimeNs);
}
