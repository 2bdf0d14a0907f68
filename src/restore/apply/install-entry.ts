import { quotePath } from '../../domain/rel-path.ts';
import { type ApplyRun, expectedAt, finishStep, type Step, skipStep } from './apply-run.ts';
import { displace, moveInto, returnDisplaced } from './displacement.ts';
import { skipReasonOf } from './failure.ts';
import { findEntry, looksLike } from './found-entry.ts';
import { removeTemporary } from './write-temporary.ts';

/**
 * Puts a file or link in its place: what lies there is moved away if it still is what the safety snapshot recorded, then the new entry
 * takes the free name. Nothing is ever overwritten; what appears meanwhile stays.
 */
export function installEntry(run: ApplyRun, step: Step): void {
  try {
    if (!makeRoom(run, step)) return;
    if (place(run, step) === 'taken') {
      skipStep(run, step, 'changed', `${quotePath(step.path)} appeared while the restore was going on`);
      return;
    }
    finishStep(run, step);
  } catch (error) {
    undo(run, step);
    throw error;
  } finally {
    if (step.state === 'skipped' && hasTemporary(step)) removeTemporary(run, step);
  }
}

function makeRoom(run: ApplyRun, step: Step): boolean {
  const expected = expectedAt(step);
  if (expected === undefined) return true;
  if (!looksLike(findEntry(run.tree, step.path), expected)) {
    skipStep(run, step, 'changed', 'It is not what the safety checkpoint holds');
    return false;
  }
  return displace(run, step);
}

function place(run: ApplyRun, step: Step): 'placed' | 'taken' {
  const { after } = step.action;
  if (after?.kind === 'symlink' && !step.prepared) {
    if (findEntry(run.tree, step.path) !== undefined) return 'taken';
    run.fs.symlink(after.target, run.tree.locate(step.path));
    step.written = findEntry(run.tree, step.path);
    return 'placed';
  }
  const outcome = moveInto(run, step.temporaries.fresh, step.path, step.written);
  step.lingering = outcome === 'linked';
  return outcome === 'taken' ? 'taken' : 'placed';
}

function hasTemporary({ action: { after }, prepared }: Step): boolean {
  return after?.kind === 'file' || prepared;
}

/** Gives the path back what lay there; where even that fails, it is settled at the end or by recovery. */
function undo(run: ApplyRun, step: Step): void {
  try {
    if (step.displaced) returnDisplaced(run, step);
    if (hasTemporary(step)) removeTemporary(run, step);
  } catch (error) {
    skipReasonOf(error, step.path);
  }
}
