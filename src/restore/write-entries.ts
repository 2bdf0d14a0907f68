import type { FileEntry } from '../domain/snapshot.ts';
import {
  type ApplyRun,
  attempt,
  expectedAt,
  finishStep,
  messageOf,
  type Step,
  skipStep,
} from './apply-run.ts';
import { skipReasonOf } from './failure.ts';
import { type FoundEntry, findEntry, looksLike } from './found-entry.ts';
import { installEntry } from './install-entry.ts';
import { removeTemporary, writeTemporary } from './write-temporary.ts';

/** Files written, and synced together, before they are put in place: bounds the open files. */
const BATCH = 128;

interface Written {
  readonly step: Step;
  readonly fd: number | undefined;
}

/**
 * The second phase: directories, files and links come into being or take the place of others, parents first. Content is complete,
 * checked and on the disk under a temporary name before anything that lies at its path is moved.
 */
export async function writeEntries(run: ApplyRun, steps: readonly Step[]): Promise<void> {
  const batch: Written[] = [];
  try {
    for (const step of steps) {
      if (step.state !== 'waiting' || step.action.after === undefined) continue;
      const written = await prepare(run, step);
      if (written !== undefined) batch.push(written);
      if (batch.length >= BATCH) install(run, batch);
    }
    install(run, batch);
  } finally {
    for (const { fd } of batch) if (fd !== undefined) run.fs.close(fd);
  }
}

/** Makes directories and mode changes at once; gives what is to be put in place later. */
async function prepare(run: ApplyRun, step: Step): Promise<Written | undefined> {
  const { before, after, action } = step.action;
  try {
    if (after?.kind === 'directory') {
      if (before?.kind === 'directory') return undefined;
      makeDirectory(run, step, after.mode);
      return undefined;
    }
    const found = findEntry(run.tree, step.path);
    if (!looksLike(found, expectedAt(step))) {
      skipStep(run, step, 'changed', 'It is not what the safety checkpoint holds');
      if (step.prepared) removeTemporary(run, step);
      return undefined;
    }
    if (step.prepared) {
      step.written = findEntry(run.tree, step.temporaries.fresh);
      return { step, fd: undefined };
    }
    if (after?.kind !== 'file') return { step, fd: undefined };
    if (action === 'mode' && found?.links === 1n) {
      changeFileMode(run, step, after, found);
      return undefined;
    }
    return { step, fd: await writeTemporary(run, step, after, found) };
  } catch (error) {
    skipStep(run, step, skipReasonOf(error, step.path), messageOf(error));
    return undefined;
  }
}

function makeDirectory(run: ApplyRun, step: Step, mode: number): void {
  const there = findEntry(run.tree, step.path);
  if (there?.kind === 'directory' && there.mode === mode && step.action.before === undefined) {
    finishStep(run, step);
    return;
  }
  run.fs.mkdir(run.tree.locate(step.path), 0o700);
  const made = findEntry(run.tree, step.path);
  run.finalModes.set(step.path, { wanted: mode, ours: made === undefined ? [] : [made.mode] });
  finishStep(run, step);
}

/** A file that has no other name keeps its inode. */
function changeFileMode(run: ApplyRun, step: Step, after: FileEntry, found: FoundEntry): void {
  run.fs.chmod(run.tree.locate(step.path), after.mode);
  const changed = findEntry(run.tree, step.path);
  if (changed?.inode !== found.inode) {
    skipStep(run, step, 'changed', 'It was replaced while its mode was restored');
    return;
  }
  step.written = changed;
  finishStep(run, step);
}

function install(run: ApplyRun, batch: Written[]): void {
  for (const { step, fd } of batch) {
    if (fd === undefined) continue;
    attempt(run, step, () => run.fs.fsync(fd));
    if (step.state === 'skipped') removeTemporary(run, step);
  }
  for (let next = batch.shift(); next !== undefined; next = batch.shift()) {
    const { step, fd } = next;
    if (fd !== undefined) run.fs.close(fd);
    if (step.state === 'waiting') attempt(run, step, () => installEntry(run, step));
  }
}
