import { comparePaths, type RelPath } from '../../domain/rel-path.ts';
import type { Git } from '../../platform/git-process.ts';
import type { FileClock } from '../file-clock.ts';
import { type GitDirectory, gitDirectoryAt } from '../git-directory.ts';
import type { LiveIgnore } from './live-ignore.ts';
import type { ScopeTree } from './scope-tree.ts';
import { below, type IndexMemory, listTracked, stampOf } from './tracked-files.ts';

export interface TrackedOptions {
  readonly root: string;
  readonly scope: ScopeTree;
  readonly live: LiveIgnore;
  readonly git: Git;
  readonly clock: FileClock;
  readonly startMs: number;
  readonly signal: AbortSignal | undefined;
}

export interface TrackedExceptions {
  /** sorted */
  readonly paths: readonly RelPath[];
  readonly memories: readonly IndexMemory[];
}

/**
 * Finds which files are in scope although they are hidden, because an index lists them. Git is asked only where an index, the set of
 * repositories or the patterns changed since `known`.
 */
export async function findTrackedExceptions(
  options: TrackedOptions,
  known: TrackedExceptions,
): Promise<TrackedExceptions> {
  const { live, clock, startMs } = options;
  const memories = new Map(known.memories.map((memory) => [memory.dir, memory]));
  const repositories = new Map<RelPath | '', GitDirectory>(live.repositories([...memories.keys()]));
  if (live.enclosing && !repositories.has('')) repositories.set('', live.enclosing);
  const stamps = new Map([...repositories].map(([dir, git]) => [dir, stampOf(git, clock, startMs)]));
  const isKnown = (dir: RelPath | '') => {
    const stamp = stamps.get(dir);
    return stamp !== '' && stamp === memories.get(dir)?.stamp;
  };
  const sameRepositories =
    memories.size === stamps.size && [...stamps.keys()].every((dir) => memories.has(dir));
  if (!live.changed && sameRepositories && [...stamps.keys()].every(isKnown)) return known;
  return askAgain(options, known, repositories, stamps);
}

async function askAgain(
  options: TrackedOptions,
  known: TrackedExceptions,
  repositories: Map<RelPath | '', GitDirectory>,
  stamps: Map<RelPath | '', string>,
): Promise<TrackedExceptions> {
  const { root, scope, git, clock, startMs, signal } = options;
  const paths = new Set<RelPath>();
  const memories: IndexMemory[] = [];
  // A Map yields what is added while it is iterated: submodules found in an index are asked too.
  for (const [dir, gitDirectory] of repositories) {
    const stamp = stamps.get(dir) ?? stampOf(gitDirectory, clock, startMs);
    if (stamp === 'none') {
      memories.push({ dir, stamp, digest: '' });
      continue;
    }
    const absolute = dir === '' ? placeInIndex(root) : `${root}/${dir}`;
    const answer = await listTracked(git, absolute, dir, signal);
    memories.push({ dir, stamp: answer ? stamp : '', digest: answer?.digest ?? '' });
    if (!answer) for (const path of below(known.paths, dir)) paths.add(path);
    for (const path of answer?.listed.files ?? []) if (scope.isHiddenByRule(path)) paths.add(path);
    for (const path of answer?.listed.repositories ?? []) {
      const nested = repositories.has(path) ? undefined : gitDirectoryAt(`${root}/${path}`);
      if (nested) repositories.set(path, nested);
    }
  }
  return { paths: [...paths].sort(comparePaths), memories };
}

/**
 * Where the index speaks of a root. A copy in `.waymark/sandboxes` of a directory inside a repository has no repository of its own, and the one around
 * it tracks nothing there: what it tracks in the directory that was copied holds for the copy.
 */
function placeInIndex(root: string): string {
  const original = /^(.+)\/\.waymark\/sandboxes\/[^/]+$/.exec(root)?.[1];
  return original === undefined || gitDirectoryAt(root) !== undefined ? root : original;
}
