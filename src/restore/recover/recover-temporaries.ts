import type { RelPath } from '../../domain/rel-path.ts';
import type { Entry } from '../../domain/snapshot.ts';
import { type ApplyRun, type Step, skipStep } from '../apply/apply-run.ts';
import { handOver, moveInto } from '../apply/displacement.ts';
import { type FoundEntry, findEntry, holdsEntry } from '../apply/found-entry.ts';

/** The two states between which an interrupted restore stands, for one path. */
export interface Ends {
  readonly before: Entry | undefined;
  readonly after: Entry | undefined;
  /** the one that recovery goes for */
  readonly goal: Entry | undefined;
}

/**
 * Cleans up what an interrupted step left beside its path. What was moved out of the way goes back where nothing took its place; what
 * the store holds anyway is removed, or kept as the entry to be installed where it is the goal; anything else is handed over.
 *
 * @returns whether the temporary `fresh` now holds the goal
 */
export function recoverTemporaries(run: ApplyRun, step: Step, ends: Ends): boolean {
  const { old, fresh, put } = step.temporaries;
  recoverPut(run, step, put, ends);
  if (findEntry(run.tree, fresh) !== undefined) run.fs.unlink(run.tree.locate(fresh));
  const displaced = findEntry(run.tree, old);
  return displaced === undefined ? false : recoverOld(run, step, displaced, ends);
}

function recoverPut(run: ApplyRun, step: Step, put: RelPath, ends: Ends): void {
  const found = findEntry(run.tree, put);
  if (found === undefined) return;
  if (isHeld(run, put, found, ends)) run.fs.unlink(run.tree.locate(put));
  else if (moveInto(run, put, step.path) === 'taken') surrender(run, step, put, found);
}

function recoverOld(run: ApplyRun, step: Step, displaced: FoundEntry, ends: Ends): boolean {
  const { old, fresh } = step.temporaries;
  const present = findEntry(run.tree, step.path);
  const held = isHeld(run, old, displaced, ends);
  const isGoal = held && holdsEntry(run.tree, old, displaced, ends.goal);
  if (present === undefined && !(held && ends.goal === undefined)) {
    moveInto(run, old, step.path);
  } else if (isGoal && present !== undefined && !holdsEntry(run.tree, step.path, present, ends.goal)) {
    run.fs.rename(run.tree.locate(old), run.tree.locate(fresh));
    return true;
  } else if (held) run.fs.unlink(run.tree.locate(old));
  else surrender(run, step, old, displaced);
  return false;
}

function isHeld(run: ApplyRun, path: RelPath, found: FoundEntry, { before, after }: Ends): boolean {
  return holdsEntry(run.tree, path, found, before) || holdsEntry(run.tree, path, found, after);
}

function surrender(run: ApplyRun, step: Step, temporary: RelPath, found: FoundEntry): void {
  skipStep(run, step, 'changed', 'It was changed while the restore was going on');
  handOver(run, step.path, temporary, found);
}
