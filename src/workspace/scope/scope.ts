import type { RelPath } from '../../domain/rel-path.ts';
import type { FrozenRules } from '../../domain/rules.ts';
import type { SkipReason } from '../../domain/snapshot.ts';
import { isSecretName } from './fixed-names.ts';
import { ScopeTree } from './scope-tree.ts';

/** Answers from frozen rules alone, for any path, present or not. */
export interface Scope {
  /**
   * Why a path is not in scope; undefined: it is. Looks at its ancestors too. A path outside a selection and anything named `.git` counts
   * as `pruned`; a hidden directory that leads to a file which a git index lists is in scope, like the file.
   */
  reasonToSkip(path: RelPath, kind: 'file' | 'directory' | 'symlink'): SkipReason | undefined;
  /** Tells whether a component of the path is named like a secret. */
  isSecret(path: RelPath): boolean;
}

/**
 * Compiles the rules of one snapshot.
 *
 * @example compileScope(view.rules).reasonToSkip('node_modules/x.js' as RelPath, 'file') // 'pruned'
 */
export function compileScope(rules: FrozenRules): Scope {
  const tree = new ScopeTree(rules, rules.ignoreFiles, rules.trackedExceptions);
  return {
    reasonToSkip(path, kind) {
      const verdict = tree.judgePath(path, kind === 'directory');
      const leads = verdict.kind === 'hidden' && kind === 'directory' && tree.leadsToTracked(path);
      return leads ? undefined : verdict.reason;
    },
    isSecret: (path) => path.split('/').some(isSecretName),
  };
}
