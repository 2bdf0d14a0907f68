import { closeSync, constants, openSync } from 'node:fs';
import { toFsPath } from '../../domain/rel-path.ts';
import { syncFileSystem } from '../../platform/sync-file-system.ts';
import { type ApplyRun, attempt, type Step } from './apply-run.ts';
import { codeOf, skipReasonOf } from './failure.ts';

/** From this many files or directories on, one sync of the whole file system takes less time than one for each. */
export const MANY = 512;

/** Makes written temporaries durable whose files are closed already. */
export function syncClosedFiles(run: ApplyRun, steps: readonly Step[]): void {
  if (syncFileSystem(run.fs, run.root)) return;
  for (const step of steps) attempt(run, step, () => syncClosedFile(run, step));
}

/** A file that its owner may not read cannot be opened for the sync; its turn comes when the system writes it. */
function syncClosedFile(run: ApplyRun, step: Step): void {
  let fd: number;
  try {
    fd = openSync(
      toFsPath(run.tree.locate(step.temporaries.fresh)),
      constants.O_RDONLY | constants.O_NOFOLLOW,
    );
  } catch (error) {
    if (codeOf(error) === 'EACCES') return;
    throw error;
  }
  try {
    run.fs.fsync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Makes the changed names durable. A directory that its owner cannot read cannot be opened for that, and one that is gone need not. */
export function syncDirectories(run: ApplyRun): void {
  if (run.touched.size >= MANY && syncFileSystem(run.fs, run.root)) return;
  run.tree.lookAgain();
  for (const path of run.touched) {
    try {
      run.fs.fsyncDirectory(run.tree.directory(path));
    } catch (error) {
      if (codeOf(error) === undefined) throw error;
      if (path !== '') skipReasonOf(error, path);
    }
  }
}
