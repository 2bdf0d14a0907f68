import { isBelow, type RelPath } from '../../domain/rel-path.ts';
import type { FrozenRules, IgnoreFile, Limits } from '../../domain/rules.ts';
import { existingRealPath } from '../identity.ts';
import type { ScopeSource } from '../observation.ts';
import type { FixedRules } from './scope-tree.ts';

/** The rules that are known before a walk. */
export interface KnownRules {
  readonly limits: Limits;
  readonly fixed: FixedRules;
  /** frozen ones, or those of the base that live ones start from */
  readonly ignoreFiles: readonly IgnoreFile[];
  readonly trackedExceptions: readonly RelPath[];
}

/** Reads a scope source; live rules start from what the base knew and are brought up to date by the walk. */
export function knownRules(source: ScopeSource, root: string, base: FrozenRules | undefined): KnownRules {
  if (source.kind === 'frozen') {
    const { limits, ignoreFiles, trackedExceptions } = source.rules;
    return { limits, fixed: source.rules, ignoreFiles, trackedExceptions };
  }
  return {
    limits: source.limits,
    fixed: {
      include: source.include,
      exclude: source.exclude,
      forbidden: source.forbidden.flatMap((path) => pathsBelow(root, path)).sort(),
      selection: [...source.selection].sort(),
    },
    ignoreFiles: base?.ignoreFiles ?? [],
    trackedExceptions: base?.trackedExceptions ?? [],
  };
}

/** A forbidden directory relative to the root, as it is named and as it really lies. */
function pathsBelow(root: string, path: string): RelPath[] {
  const prefix = root === '/' ? '/' : `${root}/`;
  return [...new Set([path, existingRealPath(path)])]
    .filter((candidate) => isBelow(candidate, root === '/' ? '' : root))
    .map((candidate) => candidate.slice(prefix.length) as RelPath)
    .filter((relative) => relative !== '');
}

/** Tells whether the rules that do not depend on the tree are the same, and with frozen rules all others too. */
export function sameRules(base: FrozenRules, known: KnownRules): boolean {
  const pick = ({ include, exclude, forbidden, selection }: FixedRules) => [
    include,
    exclude,
    forbidden,
    selection,
  ];
  return (
    JSON.stringify([pick(base), base.ignoreFiles, base.trackedExceptions]) ===
    JSON.stringify([pick(known.fixed), known.ignoreFiles, known.trackedExceptions])
  );
}

/** Tells whether names that the base left out altogether are asked for now. */
export function sameSelection(base: FrozenRules, known: KnownRules): boolean {
  return JSON.stringify(base.selection) === JSON.stringify(known.fixed.selection);
}
