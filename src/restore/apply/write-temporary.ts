import type { FileEntry } from '../../domain/snapshot.ts';
import { type ApplyRun, note, type Step } from './apply-run.ts';
import { codeOf, skipReasonOf } from './failure.ts';
import { describeOpen, type FoundEntry } from './found-entry.ts';
import { pourContent } from './pour-content.ts';
import { modeOfNewFile, placeIn } from './set-id.ts';

/**
 * Writes the file that is to lie at a step's path under its temporary name: content (its hash is checked on the way), owner of what it
 * replaces, mode whatever the umask, mtime where asked.
 *
 * @returns the open file, for the sync
 * @throws WaymarkError `OBJECT_CORRUPT` where the content is not what its name says; nothing but the temporary was touched
 */
export async function writeTemporary(
  run: ApplyRun,
  step: Step,
  after: FileEntry,
  replaced: FoundEntry | undefined,
): Promise<number> {
  const { fresh } = step.temporaries;
  const fd = run.fs.openWrite(run.tree.locate(fresh), { exclusive: true, mode: after.mode & 0o777 });
  try {
    await pourContent(run.fs, fd, after, run.content);
    const owner =
      replaced === undefined ? 'unknown' : keepOwner(run, step, fd, replaced) ? 'kept' : 'changed';
    const wanted = wantedMode(run, step, after.mode, owner);
    step.written = setMode(run, fd, wanted);
    const { mode } = step.written;
    if (mode !== after.mode) {
      const why = owner === 'unknown' && mode === wanted ? '; whose it was is not known' : '';
      note(
        run,
        step.path,
        'blocked',
        `Restored with mode ${octal(mode)} instead of ${octal(after.mode)}${why}`,
      );
    }
    if (run.preserveMtime) {
      keepMtime(run, step, after.mtimeNs);
      step.written = describeOpen(fd);
    }
    return fd;
  } catch (error) {
    run.fs.close(fd);
    discard(run, step);
    throw error;
  }
}

function wantedMode(
  run: ApplyRun,
  { path }: Step,
  mode: number,
  owner: 'kept' | 'changed' | 'unknown',
): number {
  if (owner === 'kept') return mode;
  return owner === 'changed' ? mode & 0o777 : modeOfNewFile(mode, placeIn(run.root, path));
}

/** The umask took bits away, and setuid, setgid and sticky bits never come with the opening. */
function setMode(run: ApplyRun, fd: number, wanted: number): FoundEntry {
  const opened = describeOpen(fd);
  if (opened.mode === wanted) return opened;
  run.fs.fchmod(fd, wanted);
  return describeOpen(fd);
}

/** @returns whether the file belongs to whom it belonged before */
function keepOwner(run: ApplyRun, step: Step, fd: number, replaced: FoundEntry): boolean {
  const { uid, gid } = describeOpen(fd);
  if (uid === replaced.uid && gid === replaced.gid) return true;
  try {
    run.fs.chown(run.tree.locate(step.temporaries.fresh), replaced.uid, replaced.gid);
    return true;
  } catch (error) {
    skipReasonOf(error, step.path);
    note(
      run,
      step.path,
      'blocked',
      `Restored, but its owner ${replaced.uid}:${replaced.gid} could not be kept (${codeOf(error)})`,
    );
    return false;
  }
}

function keepMtime(run: ApplyRun, step: Step, mtimeNs: bigint): void {
  try {
    run.fs.utimes(run.tree.locate(step.temporaries.fresh), mtimeNs, mtimeNs);
  } catch (error) {
    skipReasonOf(error, step.path);
    note(run, step.path, 'blocked', `Restored, but its mtime could not be set (${codeOf(error)})`);
  }
}

/** What led here is the error to tell, not that the temporary stays. */
function discard(run: ApplyRun, step: Step): void {
  try {
    removeTemporary(run, step);
  } catch {
    step.lingering = true;
  }
}

/** Removes what was written and is not needed; what stays for now is swept at the end, or by recovery. */
export function removeTemporary(run: ApplyRun, step: Step): void {
  try {
    run.fs.unlink(run.tree.locate(step.temporaries.fresh));
    step.lingering = false;
  } catch (error) {
    step.lingering = true;
    skipReasonOf(error, step.path);
  }
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}
