import type { RelPath } from '../domain/rel-path.ts';
import type { SkipReason } from '../domain/snapshot.ts';

/** Which paths the rules of one moment put in scope; `workspace/scope` compiles it from frozen rules. */
export interface PathScope {
  /** Why the path (or a directory above it) is left out by rule; undefined: in scope. */
  reasonToSkip(path: RelPath, kind: 'file' | 'directory' | 'symlink'): SkipReason | undefined;
}
