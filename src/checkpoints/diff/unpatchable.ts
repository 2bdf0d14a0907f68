import { countText } from '../../domain/count-text.ts';
import type { Change } from '../../domain/diff.ts';
import { quotePath, type RelPath } from '../../domain/rel-path.ts';
import type { Entry } from '../../domain/snapshot.ts';
import { gitMode, isDirectory } from './git-mode.ts';

/** Larger files are left out of a patch: `git apply` takes at most 1 GiB in all, and each is held in memory, bytes. */
export const MAX_PATCHED = 128 * 1024 ** 2;

const NAMED = 3;

/** Says what of a difference a patch cannot hold, a line for each reason. `skipped` are the paths that could not be compared. */
export function unpatchable(
  changes: readonly Change[],
  skipped: readonly { readonly path: RelPath }[],
): readonly string[] {
  const filled = { from: parents(changes, 'from'), to: parents(changes, 'to') };
  const isEmpty = (change: Change, side: 'from' | 'to') =>
    isDirectory(change[side]) && !filled[side].has(change.path);
  return [
    ...left(
      changes.filter(
        (change) => change.action !== 'mode' && (isEmpty(change, 'from') || isEmpty(change, 'to')),
      ),
      'empty directory',
      'empty directories',
      '',
    ),
    ...left(changes.filter(onlyOtherBits), 'permission', 'permissions', ' (it knows executable or not)'),
    ...left(changes.filter(isTooLarge), 'file', 'files', ` (over ${MAX_PATCHED / 1024 ** 2} MiB)`),
    ...left(skipped, 'path', 'paths', ' (not held on both sides)'),
  ];
}

function left(
  found: readonly { readonly path: RelPath }[],
  one: string,
  many: string,
  why: string,
): readonly string[] {
  if (found.length === 0) return [];
  const names = found.slice(0, NAMED).map(({ path }) => quotePath(path));
  const more = found.length > NAMED ? ', …' : '';
  return [`not in the patch: ${countText(found.length, one, many)}${why}: ${names.join(', ')}${more}`];
}

/** The directories that something else than a directory lies in, as far as it changed. */
function parents(changes: readonly Change[], side: 'from' | 'to'): ReadonlySet<string> {
  const found = new Set<string>();
  for (const change of changes) {
    if (change[side] === undefined || isDirectory(change[side])) continue;
    for (let at = change.path.lastIndexOf('/'); at > 0; at = change.path.lastIndexOf('/', at - 1)) {
      const parent = change.path.slice(0, at);
      if (found.has(parent)) break;
      found.add(parent);
    }
  }
  return found;
}

function onlyOtherBits({ from, to }: Change): boolean {
  if (from === undefined || to === undefined || from.kind !== to.kind) return false;
  return from.kind !== 'symlink' && modeOf(from) !== modeOf(to) && gitMode(from) === gitMode(to);
}

function modeOf(entry: Entry): number | undefined {
  return entry.kind === 'symlink' ? undefined : entry.mode;
}

function isTooLarge({ from, to }: Change): boolean {
  if (from?.kind === 'file' && to?.kind === 'file' && from.hash === to.hash) return false;
  return [from, to].some((entry) => entry?.kind === 'file' && entry.size > MAX_PATCHED);
}
