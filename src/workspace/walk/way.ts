import type { RelPath } from '../../domain/rel-path.ts';
import type { ScopeTree } from '../scope/scope-tree.ts';
import type { Verdict } from '../scope/verdict.ts';

/** What a walk does with a path. `pass`: enter it without capturing it. `skip`: do not even observe it. */
export type Way = 'capture' | 'pass' | 'observe' | 'skip';

export interface WayQuestion {
  readonly path: RelPath;
  readonly isDirectory: boolean;
  /** it or something above it is forced */
  readonly forced: boolean;
  /** something below it is forced */
  readonly aboveForced: boolean;
  readonly scope: ScopeTree;
}

/** Turns a verdict into what is done: forcing opens everything but what is closed, and hidden directories are entered for what an index lists. */
export function wayFor(
  verdict: Verdict,
  { path, isDirectory, forced, aboveForced, scope }: WayQuestion,
): Way {
  const { kind } = verdict;
  if (kind === 'in_scope') return 'capture';
  if (kind === 'closed') return 'observe';
  if (kind === 'unseen') return 'skip';
  if (forced) return 'capture';
  if (kind === 'passage') return 'pass';
  const leads = isDirectory && aboveForced;
  if (kind === 'outside') return leads ? 'pass' : 'skip';
  const leadsToTracked = kind === 'hidden' && isDirectory && scope.leadsToTracked(path);
  return leads || leadsToTracked ? 'capture' : 'observe';
}
