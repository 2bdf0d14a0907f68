import { comparePaths, type RelPath } from '../../domain/rel-path.ts';
import type { DirectoryEntry } from '../../domain/snapshot.ts';
import { type ApplyRun, finishStep, messageOf, note, type Step, skipStep } from './apply-run.ts';
import { skipReasonOf } from './failure.ts';
import { findEntry, findReachable } from './found-entry.ts';

/** Gives directories their final modes, the deepest first, so that none is closed before the work in it is done. */
export function setDirectoryModes(run: ApplyRun, steps: readonly Step[]): void {
  for (const step of steps) if (step.state === 'waiting') adoptMode(run, step);
  const deepestFirst = [...run.finalModes].sort(([a], [b]) => comparePaths(b, a));
  for (const [path, { wanted, ours }] of deepestFirst) {
    try {
      run.tree.lookAgain();
      setMode(run, path, wanted, ours);
    } catch (error) {
      const step = steps.find((candidate) => candidate.path === path);
      const reason = skipReasonOf(error, path);
      if (step === undefined) note(run, path, reason, messageOf(error));
      else skipStep(run, step, reason, messageOf(error));
    }
  }
}

/** A directory whose mode changes must still have the one that was recorded, or the one it was given for the work. */
function adoptMode(run: ApplyRun, step: Step): void {
  const { before, after } = step.action;
  if (before?.kind !== 'directory' || after?.kind !== 'directory') return;
  try {
    const ours = [before.mode, ...(run.finalModes.get(step.path)?.ours ?? [])];
    const found = findEntry(run.tree, step.path);
    if (found?.kind !== 'directory' || !ours.includes(found.mode)) {
      skipStep(run, step, 'changed', 'It is not what the safety checkpoint holds');
      return;
    }
    run.finalModes.set(step.path, { wanted: (after as DirectoryEntry).mode, ours });
    finishStep(run, step);
  } catch (error) {
    skipStep(run, step, skipReasonOf(error, step.path), messageOf(error));
  }
}

function setMode(run: ApplyRun, path: RelPath, wanted: number, ours: readonly number[]): void {
  const found = findReachable(run.tree, path);
  if (found?.kind !== 'directory' || found.mode === wanted) return;
  if (!ours.includes(found.mode)) {
    note(run, path, 'changed', 'Its mode was changed while the restore was going on');
    return;
  }
  run.fs.chmod(run.tree.locate(path), wanted);
  run.touched.add(path);
}
