import { baseNameOf, joinRel, parentOf, quotePath, type RelPath } from '../../domain/rel-path.ts';
import { type ApplyRun, note, type Step, skipStep } from './apply-run.ts';
import { codeOf, failure, skipReasonOf } from './failure.ts';
import { type FoundEntry, findEntry, holdsEntry, looksLike } from './found-entry.ts';

const CHANGED = 'It was changed while the restore was going on';

/**
 * Moves what lies at the step's path out of the way by one rename, so that whatever it is at that instant is kept, and looks at it
 * there. If it is not what was expected, it is put back at once.
 *
 * @returns whether the path is free now
 */
export function displace(run: ApplyRun, step: Step): boolean {
  const { before } = step.action;
  const { old } = step.temporaries;
  if (findEntry(run.tree, old) !== undefined) throw failure('EEXIST', `${quotePath(old)} exists`);
  run.fs.rename(run.tree.locate(step.path), run.tree.locate(old));
  step.displaced = true;
  run.touched.add(parentOf(step.path));
  if (looksLike(findEntry(run.tree, old), before)) return true;
  returnDisplaced(run, step);
  skipStep(run, step, 'changed', CHANGED);
  return false;
}

/** Puts what was displaced back to its path, unless something lies there by now. */
export function returnDisplaced(run: ApplyRun, step: Step): MoveOutcome {
  const outcome = moveInto(run, step.temporaries.old, step.path);
  if (outcome === 'moved') step.displaced = false;
  return outcome;
}

/** `linked`: it is at the new name and, since that could not be removed, at the old one as well. `taken`: nothing happened. */
export type MoveOutcome = 'moved' | 'linked' | 'taken';

/** Moves an entry to a name that is free, never over anything. */
export function moveInto(
  run: ApplyRun,
  from: RelPath,
  to: RelPath,
  found = findEntry(run.tree, from),
): MoveOutcome {
  if (found === undefined) throw failure('ENOENT', `${quotePath(from)} is gone`);
  const linked = canLink(found) ? tryLink(run, from, to) : 'refused';
  if (linked === 'taken') return 'taken';
  if (linked === 'linked') return removeName(run, from) ? 'moved' : 'linked';
  if (findEntry(run.tree, to) !== undefined) return 'taken';
  run.fs.rename(run.tree.locate(from), run.tree.locate(to));
  return 'moved';
}

function tryLink(run: ApplyRun, from: RelPath, to: RelPath): 'linked' | 'taken' | 'refused' {
  try {
    run.fs.link(run.tree.locate(from), run.tree.locate(to));
    return 'linked';
  } catch (error) {
    const code = codeOf(error) ?? '';
    if (code === 'EEXIST') return 'taken';
    if (LINK_REFUSED.has(code)) return 'refused';
    throw error;
  }
}

function removeName(run: ApplyRun, path: RelPath): boolean {
  try {
    run.fs.unlink(run.tree.locate(path));
    return true;
  } catch (error) {
    skipReasonOf(error, path);
    return false;
  }
}

/** What file systems say that have no hard links, or refuse this one. */
const LINK_REFUSED: ReadonlySet<string> = new Set(['EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** macOS follows a symlink that is to be linked. */
function canLink({ kind }: FoundEntry): boolean {
  return kind !== 'directory' && (kind !== 'symlink' || process.platform === 'linux');
}

/**
 * Compares what a step displaced with what the safety snapshot holds, by content. The same: it is removed. Else it goes back to its
 * path if that still holds what the restore left there, or is handed over.
 */
export function settleDisplaced(run: ApplyRun, step: Step): void {
  if (!step.displaced) return;
  const { old } = step.temporaries;
  const found = findEntry(run.tree, old);
  if (found === undefined) {
    step.displaced = false;
    return;
  }
  const abandoned = step.state !== 'done' && findEntry(run.tree, step.path) === undefined;
  // Where somebody took the place at the last moment, what was displaced is held or handed over like any other.
  if (abandoned && returnDisplaced(run, step) !== 'taken') return;
  if (isHeld(run, step, found)) {
    run.fs.unlink(run.tree.locate(old));
    step.displaced = false;
    return;
  }
  if (makeWay(run, step)) returnDisplaced(run, step);
  skipStep(run, step, 'changed', CHANGED);
  if (step.displaced) handOver(run, step.path, old, found);
}

/** What can't be read can't be known to be held. */
function isHeld(run: ApplyRun, step: Step, found: FoundEntry): boolean {
  try {
    return holdsEntry(run.tree, step.temporaries.old, found, step.action.before);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return false;
  }
}

/** Frees the step's path if it holds nothing but what the restore put there. */
function makeWay(run: ApplyRun, step: Step): boolean {
  const present = findEntry(run.tree, step.path);
  if (present === undefined) return true;
  if (step.state !== 'done' || !isOurs(step, present)) return false;
  const { put } = step.temporaries;
  run.fs.rename(run.tree.locate(step.path), run.tree.locate(put));
  const moved = findEntry(run.tree, put);
  if (moved === undefined || isOurs(step, moved)) {
    run.fs.unlink(run.tree.locate(put));
    return true;
  }
  if (moveInto(run, put, step.path) === 'taken') handOver(run, step.path, put, moved);
  return false;
}

/** Tells whether an entry is the one that this restore wrote for the step, untouched since. */
export function isOurs(step: Step, found: FoundEntry): boolean {
  const { written } = step;
  return (
    written !== undefined &&
    found.kind === written.kind &&
    found.inode === written.inode &&
    found.size === written.size &&
    found.mtimeNs === written.mtimeNs
  );
}

/** Leaves what cannot be put back to the caller; what no checkpoint can hold stays beside its path under a name that says so. */
export function handOver(run: ApplyRun, path: RelPath, temporary: RelPath, found: FoundEntry): void {
  if (found.kind === 'file' || found.kind === 'symlink') {
    run.displaced.push({ path, temporary, kind: found.kind });
    return;
  }
  const kept = joinRel(
    parentOf(path),
    baseNameOf(temporary).replace('.waymark-restore-', 'waymark-displaced-'),
  );
  run.fs.rename(run.tree.locate(temporary), run.tree.locate(kept));
  note(run, path, 'changed', `What appeared there meanwhile is now ${quotePath(kept)}`);
}
