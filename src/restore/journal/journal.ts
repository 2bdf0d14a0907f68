import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isWaymarkError, WaymarkError } from '../../domain/errors.ts';
import { type CheckpointId, type DirHash, isDirHash, type OperationId } from '../../domain/ids.ts';
import {
  durableWrite,
  ensurePrivateDirectory,
  removeIfPresent,
  syncDirectory,
} from '../../platform/durable-write.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import type { HomeLayout } from '../../platform/home-layout.ts';
import { errorCode, systemError } from '../../platform/system-error.ts';
import { lockedDirectories } from '../apply/unlock-directories.ts';
import { openTree } from '../apply/workspace-tree.ts';
import { decodeJournal, encodeJournal } from './journal-codec.ts';
import type { RestoreJournal } from './restore-journal.ts';

type Layout = Pick<HomeLayout, 'journal'>;

/**
 * Writes down, durably, what a restore is about to do; call it before the first change to the workspace.
 *
 * @returns the journal as written, with the directories that will be opened up
 * @throws WaymarkError `RESTORE_INTERRUPTED` where the workspace has an open journal already
 */
export function openJournal(
  fs: FileSystem,
  layout: Layout,
  journal: Omit<RestoreJournal, 'unlocked'>,
): RestoreJournal {
  const { dirHash, path } = journal.workspace;
  if (hasJournal(layout, dirHash)) {
    throw new WaymarkError(
      'RESTORE_INTERRUPTED',
      `An interrupted restore of ${path} is to be finished first`,
      {
        hint: 'waymark recover --continue | --abort',
      },
    );
  }
  using tree = openTree(path);
  const opened: RestoreJournal = { ...journal, unlocked: lockedDirectories(tree, journal) };
  ensurePrivateDirectory(fs, layout.journal);
  durableWrite(fs, journalPath(layout, dirHash), encodeJournal(opened));
  return opened;
}

/** Tells whether a restore of the workspace was begun and not finished, without reading its journal. */
export function hasJournal(layout: Layout, dirHash: DirHash): boolean {
  return readBytes(journalPath(layout, dirHash)) !== undefined;
}

/**
 * Reads a workspace's open journal; undefined: there is none.
 *
 * @throws WaymarkError `MANIFEST_INVALID`, `FORMAT_UNSUPPORTED` naming the file, which stays as it is
 */
export function readJournal(layout: Layout, dirHash: DirHash): RestoreJournal | undefined {
  const path = journalPath(layout, dirHash);
  const bytes = readBytes(path);
  if (bytes === undefined) return undefined;
  try {
    return decodeJournal(bytes);
  } catch (cause) {
    const code = isWaymarkError(cause, 'FORMAT_UNSUPPORTED') ? 'FORMAT_UNSUPPORTED' : 'MANIFEST_INVALID';
    throw new WaymarkError(code, `The journal ${path} cannot be read: ${(cause as Error).message}`, {
      hint: 'A restore was interrupted. In its workspace: waymark recover --set-aside keeps the file under another name and says how to go back',
      cause,
    });
  }
}

/** Removes a journal, durably, once its restore is finished or taken back. No error where it is gone already. */
export function closeJournal(fs: FileSystem, layout: Layout, dirHash: DirHash): void {
  removeIfPresent(fs, journalPath(layout, dirHash));
  syncDirectory(fs, layout.journal);
}

/** A journal that can't be read, and what can be made out in it. */
export interface DamagedJournal {
  /** why it can't be read */
  readonly problem: string;
  /** as its bytes spell them, checked against nothing */
  readonly operationId: OperationId | undefined;
  readonly safetyId: CheckpointId | undefined;
}

/** Looks at a workspace's journal for damage; undefined: there is none, or it can be read. */
export function damageOfJournal(layout: Layout, dirHash: DirHash): DamagedJournal | undefined {
  try {
    readJournal(layout, dirHash);
    return undefined;
  } catch (error) {
    if (!isWaymarkError(error, 'MANIFEST_INVALID') && !isWaymarkError(error, 'FORMAT_UNSUPPORTED'))
      throw error;
    const text = readBytes(journalPath(layout, dirHash))?.toString('latin1') ?? '';
    const field = (name: string) => new RegExp(`"${name}":"([0-9A-Z]{26})"`).exec(text)?.[1];
    return {
      problem: error.message,
      operationId: field('operationId') as OperationId | undefined,
      safetyId: field('safetyId') as CheckpointId | undefined,
    };
  }
}

/**
 * Gives a journal another name beside its own, durably; nothing looks at it from then on.
 *
 * @param mark tells it from others of the workspace
 * @returns where it lies
 */
export function setJournalAside(fs: FileSystem, layout: Layout, dirHash: DirHash, mark: string): string {
  const aside = join(layout.journal, `${dirHash}.damaged-${mark}.json`);
  fs.rename(journalPath(layout, dirHash), aside);
  syncDirectory(fs, layout.journal);
  return aside;
}

/** Workspaces with an open journal, readable or not. */
export function openJournals(layout: Layout): readonly DirHash[] {
  try {
    const names = readdirSync(layout.journal).map((name) => name.replace(/\.json$/, ''));
    return names.filter(isDirHash).sort();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw systemError(error, 'list', layout.journal);
  }
}

/**
 * The checkpoints that open journals need; retention keeps them.
 *
 * @throws WaymarkError where a journal cannot be read: nothing may be dropped then
 */
export function journaledCheckpoints(layout: Layout): readonly CheckpointId[] {
  return openJournals(layout).flatMap((dirHash) => {
    const journal = readJournal(layout, dirHash);
    return [journal?.targetId, journal?.safetyId].filter((id) => id !== null && id !== undefined);
  });
}

function journalPath(layout: Layout, dirHash: DirHash): string {
  return join(layout.journal, `${dirHash}.json`);
}

function readBytes(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw systemError(error, 'read', path);
  }
}
