import { type ApplyRun, messageOf, note, type Step, skipStep } from './apply-run.ts';
import { isOurs } from './displacement.ts';
import { skipReasonOf } from './failure.ts';
import { type FoundEntry, findReachable } from './found-entry.ts';

/** Looks once more at every path that was changed; what is not as it was left was changed by somebody else since. */
export function verifyWritten(run: ApplyRun, steps: readonly Step[]): void {
  run.tree.lookAgain();
  for (const step of steps) {
    if (step.state !== 'done') continue;
    try {
      if (!isAsLeft(step, findReachable(run.tree, step.path))) {
        skipStep(run, step, 'changed', 'It was changed again after it was restored');
      }
    } catch (error) {
      note(run, step.path, skipReasonOf(error, step.path), messageOf(error));
    }
  }
}

function isAsLeft(step: Step, found: FoundEntry | undefined): boolean {
  const { after } = step.action;
  if (found === undefined || after === undefined) return found === after;
  if (after.kind === 'directory') return found.kind === 'directory';
  return isOurs(step, found);
}
