import { createHash } from 'node:crypto';
import { fstatSync } from 'node:fs';
import { WaymarkError } from '../domain/errors.ts';
import type { FileEntry } from '../domain/snapshot.ts';
import { type ApplyRun, note, type Step } from './apply-run.ts';
import { codeOf, skipReasonOf } from './failure.ts';
import { type FoundEntry, findEntry } from './found-entry.ts';

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
  const fd = run.fs.openWrite(run.tree.locate(fresh), { exclusive: true, mode: 0o600 });
  try {
    await pour(run, fd, after);
    const mode = after.mode & (keepOwner(run, step, fd, replaced) ? 0o7777 : 0o777);
    run.fs.fchmod(fd, mode);
    const given = fstatSync(fd).mode & 0o7777;
    if (given !== after.mode)
      note(run, step.path, 'blocked', `Restored with mode ${octal(given)} instead of ${octal(after.mode)}`);
    if (run.preserveMtime) keepMtime(run, step, after.mtimeNs);
    step.written = findEntry(run.tree, fresh);
    return fd;
  } catch (error) {
    run.fs.close(fd);
    discard(run, step);
    throw error;
  }
}

async function pour(run: ApplyRun, fd: number, { hash, size }: FileEntry): Promise<void> {
  const digest = createHash('sha256');
  let written = 0;
  for await (const piece of run.content(hash)) {
    digest.update(piece);
    written += piece.length;
    if (piece.length > 0) run.fs.write(fd, piece);
  }
  if (digest.digest('hex') !== hash || written !== size) {
    throw new WaymarkError('OBJECT_CORRUPT', `Blob ${hash} does not hold the content that its name says`);
  }
}

/** @returns whether the file belongs to whom it belonged before */
function keepOwner(run: ApplyRun, step: Step, fd: number, replaced: FoundEntry | undefined): boolean {
  if (replaced === undefined) return true;
  const { uid, gid } = fstatSync(fd);
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
