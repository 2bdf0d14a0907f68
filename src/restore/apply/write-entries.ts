import { parentOf, type RelPath } from '../../domain/rel-path.ts';
import type { FileEntry } from '../../domain/snapshot.ts';
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
import { MANY, syncClosedFiles } from './sync-written.ts';
import { removeTemporary, writeTemporary } from './write-temporary.ts';

/** Files written, and synced together, before they are put in place. Those of a small batch stay open for their sync. */
const SMALL_BATCH = 128;
const LARGE_BATCH = 8192;

interface Written {
  readonly step: Step;
  /** undefined: a link, or a file that is closed already */
  readonly fd: number | undefined;
}

/**
 * The second phase: directories, files and links come into being or take the place of others, parents first. Content is complete,
 * checked and on the disk under a temporary name before anything that lies at its path is moved.
 */
export async function writeEntries(run: ApplyRun, steps: readonly Step[]): Promise<void> {
  const coming = steps.filter(({ state, action }) => state === 'waiting' && action.after !== undefined);
  const many = coming.filter(({ action: { action, after } }) => after?.kind === 'file' && action !== 'mode');
  const large = many.length >= MANY;
  const batch: Written[] = [];
  try {
    let directory: RelPath | '' | undefined;
    for (const step of coming) {
      // What is written here is not at its path yet; putting it there looks at the directory once more.
      if (parentOf(step.path) !== directory) run.tree.lookAgain();
      directory = parentOf(step.path);
      const written = await prepare(run, step);
      if (written === undefined) continue;
      batch.push(large ? closed(run, written) : written);
      if (batch.length >= (large ? LARGE_BATCH : SMALL_BATCH)) install(run, batch, large);
    }
    install(run, batch, large);
  } finally {
    for (const { fd } of batch) if (fd !== undefined) run.fs.close(fd);
  }
}

function closed(run: ApplyRun, { step, fd }: Written): Written {
  if (fd !== undefined) run.fs.close(fd);
  return { step, fd: undefined };
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
    const expected = expectedAt(step);
    const found = expected === undefined ? undefined : findEntry(run.tree, step.path);
    if (!looksLike(found, expected)) {
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

function install(run: ApplyRun, batch: Written[], large: boolean): void {
  if (large) {
    const files = batch.filter(({ step }) => step.written?.kind === 'file');
    syncClosedFiles(
      run,
      files.map(({ step }) => step),
    );
  }
  for (const { step, fd } of batch) {
    if (fd !== undefined) attempt(run, step, () => run.fs.fsync(fd));
    if (step.state === 'skipped') removeTemporary(run, step);
  }
  for (let next = batch.shift(); next !== undefined; next = batch.shift()) {
    const { step, fd } = next;
    if (fd !== undefined) run.fs.close(fd);
    if (step.state === 'waiting') attempt(run, step, () => installEntry(run, step));
  }
}
