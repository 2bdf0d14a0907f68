import { compileGlob } from './glob.ts';

/** One line of an ignore file. */
export interface IgnorePattern {
  readonly negated: boolean;
  readonly directoryOnly: boolean;
  /** `path` is a byte string relative to the ignore file's directory, its base name starts at `nameAt`. */
  matches(path: string, nameAt: number): boolean;
}

const SPECIAL = /[*?[\\]/;

/** Parses a cleaned line (no comment, no trailing spaces); undefined where it can match nothing. */
export function parseIgnorePattern(line: string): IgnorePattern | undefined {
  const negated = line.startsWith('!');
  const directoryOnly = line.length > (negated ? 1 : 0) && line.endsWith('/');
  const pattern = line.slice(negated ? 1 : 0, directoryOnly ? -1 : undefined);
  if (pattern === '') return undefined;
  const matches = pattern.includes('/') ? matchPath(pattern) : matchName(pattern);
  return { negated, directoryOnly, matches };
}

/** A pattern without a slash matches the base name at any depth. */
function matchName(pattern: string): IgnorePattern['matches'] {
  if (!SPECIAL.test(pattern)) {
    return (path, nameAt) => path.length - nameAt === pattern.length && path.endsWith(pattern);
  }
  if (pattern[0] === '*' && !SPECIAL.test(pattern.slice(1))) {
    const ending = pattern.slice(1);
    return (path, nameAt) => path.length - nameAt >= ending.length && path.endsWith(ending);
  }
  const glob = compileGlob(pattern);
  return (path, nameAt) => glob(path.slice(nameAt));
}

/**
 * A pattern with a slash is anchored. git compares what stands before the first wildcard literally and runs the wildcard matcher on the
 * rest alone, so that `ab**` + `/c` sees its `**` at the start of a pattern; so do we.
 */
function matchPath(pattern: string): IgnorePattern['matches'] {
  const anchored = pattern.startsWith('/') ? pattern.slice(1) : pattern;
  const wildcardAt = anchored.search(SPECIAL);
  if (wildcardAt < 0) return (path) => path === anchored;
  const literal = anchored.slice(0, wildcardAt);
  const glob = compileGlob(anchored.slice(wildcardAt));
  return (path) => path.startsWith(literal) && glob(path.slice(wildcardAt));
}
