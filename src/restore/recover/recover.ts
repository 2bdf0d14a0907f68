import { actionBetween } from '../../domain/diff.ts';
import type { Entry } from '../../domain/snapshot.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import { type ApplyResult, executeSteps, resultOf } from '../apply/apply-restore.ts';
import {
  type ApplyRun,
  type ContentSource,
  messageOf,
  newStep,
  note,
  type Step,
  skipStep,
  startRun,
} from '../apply/apply-run.ts';
import { skipReasonOf } from '../apply/failure.ts';
import { type FoundEntry, findReachable, holdsEntry, isReachable } from '../apply/found-entry.ts';
import {
  lockedDirectories,
  type UnlockedDirectory,
  unlockDirectories,
  workingMode,
} from '../apply/unlock-directories.ts';
import { openTree } from '../apply/workspace-tree.ts';
import type { RestoreJournal } from '../journal/restore-journal.ts';
import type { RestoreAction } from '../plan/restore-plan.ts';
import { type Ends, recoverTemporaries } from './recover-temporaries.ts';

export interface RecoverInput {
  readonly journal: RestoreJournal;
  /** `continue` goes to the state after the restore, `abort` to the one before. */
  readonly mode: 'continue' | 'abort';
  readonly content: ContentSource;
  readonly fs: FileSystem;
  readonly onProgress?: (finished: number) => void;
}

/**
 * Brings a workspace to exactly the state after or before an interrupted restore. A path is touched only if it equals its journaled
 * before or after, or is one that the restore had under way; others are skipped as `changed`. May itself be interrupted and repeated.
 *
 * @returns as `done` the journal's actions whose path is now in the wanted state
 * @throws like `applyRestore`; the journal stays open until the caller closes it
 */
export async function recoverRestore(input: RecoverInput): Promise<ApplyResult> {
  const { journal, mode } = input;
  using tree = openTree(journal.workspace.path);
  const run = startRun({
    ...input,
    root: journal.workspace.path,
    tree,
    preserveMtime: mode === 'abort' || journal.preserveMtime,
  });
  unlockDirectories(run, directoriesToUnlock(run, journal));
  const recovered = journal.actions.map((action, n) => planRecovery(run, journal, action, n, mode));
  const steps = recovered.flatMap(({ step }) => (step === undefined ? [] : [step]));
  await executeSteps(run, steps);
  const done = recovered.filter(({ settled, step }) => settled || step?.state === 'done');
  return { ...resultOf(run, steps), done: done.map(({ action }) => action) };
}

function directoriesToUnlock(run: ApplyRun, journal: RestoreJournal): readonly UnlockedDirectory[] {
  const journaled = new Set<string>(journal.unlocked.map(({ path }) => path));
  const locked = lockedDirectories(run.tree, journal).filter(({ path }) => !journaled.has(path));
  return [...journal.unlocked, ...locked].sort((a, b) => (a.path < b.path ? -1 : 1));
}

interface Recovered {
  readonly action: RestoreAction;
  /** the path is in the wanted state already */
  readonly settled: boolean;
  readonly step: Step | undefined;
}

function planRecovery(
  run: ApplyRun,
  journal: RestoreJournal,
  action: RestoreAction,
  n: number,
  mode: RecoverInput['mode'],
): Recovered {
  const { before, after, path } = action;
  const ends: Ends = { before, after, goal: mode === 'continue' ? after : before };
  const probe = newStep(action, journal.operationId, n);
  try {
    run.tree.lookAgain();
    const prepared = isReachable(run.tree, path) && recoverTemporaries(run, probe, ends);
    if (probe.state === 'skipped') return { action, settled: false, step: undefined };
    const found = findReachable(run.tree, path);
    if (holdsEntry(run.tree, path, found, ends.goal)) {
      run.finalModes.delete(path);
      return { action, settled: true, step: undefined };
    }
    const present = presentEntry(run, path, found, ends);
    if (present !== 'changed') {
      const way = actionBetween(present, ends.goal) ?? action.action;
      const remaining = { path, action: way, before: present, after: ends.goal };
      return { action, settled: false, step: newStep(remaining, journal.operationId, n, prepared) };
    }
    skipStep(run, probe, 'changed', 'It is neither what it was before the restore nor what it is after it');
  } catch (error) {
    note(run, path, skipReasonOf(error, path), messageOf(error));
  }
  return { action, settled: false, step: undefined };
}

/** The present state as an entry, where it is one that the restore can have left: the other end, or something on the way. */
function presentEntry(
  run: ApplyRun,
  path: RestoreAction['path'],
  found: FoundEntry | undefined,
  { before, after, goal }: Ends,
): Entry | undefined | 'changed' {
  const other = goal === before ? after : before;
  if (found === undefined) return other === undefined || isBetween(before, after) ? undefined : 'changed';
  if (found.kind === 'directory') {
    if (!isOurDirectory(found.mode, before, after)) return 'changed';
    return { kind: 'directory', mode: found.mode, mtimeNs: found.mtimeNs, listing: 'partial' };
  }
  if (other === undefined || !holdsEntry(run.tree, path, found, other)) return 'changed';
  return { ...other, mtimeNs: found.mtimeNs };
}

/** Where a directory gives way to something else, or the other way round, there is a moment with nothing. */
function isBetween(before: Entry | undefined, after: Entry | undefined): boolean {
  return (
    before !== undefined &&
    after !== undefined &&
    (before.kind === 'directory') !== (after.kind === 'directory')
  );
}

function isOurDirectory(mode: number, before: Entry | undefined, after: Entry | undefined): boolean {
  const ends = [before, after].filter((entry) => entry?.kind === 'directory');
  const isNew = ends.length > 0 && (mode & ~0o2000) === 0o700;
  return isNew || ends.some((end) => mode === end.mode || mode === workingMode(end.mode));
}
