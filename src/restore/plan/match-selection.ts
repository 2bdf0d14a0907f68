import { WaymarkError } from '../../domain/errors.ts';
import { ancestorsOf, parseRelPath, quotePath, type RelPath } from '../../domain/rel-path.ts';
import type { SnapshotView } from '../../domain/snapshot.ts';
import { compileGlob } from './glob.ts';
import type { Selection } from './restore-plan.ts';

/** What a selection needs to know of a snapshot. */
export type PathSource = Pick<SnapshotView, 'get' | 'nodes'>;

/** A selection made definite against the snapshots it is about. */
export interface MatchedSelection {
  /** Tells whether a path is wanted: named, matched, or below one that is. */
  readonly includes: (path: RelPath) => boolean;
  /** Paths named literally. Empty where everything is selected. */
  readonly named: readonly RelPath[];
}

/**
 * Makes a selection definite. A name that exists in one of `sources` (or lies in a directory they have seen and not entered)
 * is taken literally, whatever characters it holds; else it is a glob. No names, `.` or an empty name: everything.
 *
 * @throws WaymarkError `UNSAFE_PATH` for a name that leaves the workspace; `PATH_NOT_FOUND` for one that matches nothing
 */
export function compileSelection(paths: readonly string[], sources: readonly PathSource[]): MatchedSelection {
  if (isEverything(paths)) {
    return { includes: () => true, named: [] };
  }
  const named: RelPath[] = [];
  const globs: ((path: string) => boolean)[] = [];
  for (const path of paths.map(nameOf)) {
    if (isKnown(path, sources)) named.push(path);
    else globs.push(matchingGlob(path, sources));
  }
  return { includes: including(named, globs), named };
}

/** The names of a selection that none of the sources knows, so that they would count as globs. */
export function unknownNames({ paths }: Selection, sources: readonly PathSource[]): readonly RelPath[] {
  return isEverything(paths) ? [] : paths.map(nameOf).filter((path) => !isKnown(path, sources));
}

function isEverything(paths: readonly string[]): boolean {
  return paths.length === 0 || paths.some((path) => path === '.' || path === '' || path === './');
}

function nameOf(path: string): RelPath {
  const name = path.replace(/\/+$/, '');
  return parseRelPath(name.startsWith('./') ? name.slice(2) : name);
}

/** The same as a bare predicate. */
export function matchSelection(
  paths: readonly string[],
  sources: readonly PathSource[],
): (path: RelPath) => boolean {
  return compileSelection(paths, sources).includes;
}

function isKnown(path: RelPath, sources: readonly PathSource[]): boolean {
  return sources.some(
    (source) =>
      source.get(path) !== undefined ||
      source.nodes(path).next().done !== true ||
      ancestorsOf(path).some((ancestor) => source.get(ancestor)?.kind === 'observed'),
  );
}

function matchingGlob(pattern: RelPath, sources: readonly PathSource[]): (path: string) => boolean {
  const glob = compileGlob(pattern);
  const found = sources.some((source) =>
    Iterator.from(source.nodes()).some(([path]) => glob(path) || ancestorsOf(path).some(glob)),
  );
  if (!found) throw new WaymarkError('PATH_NOT_FOUND', `No path matches ${quotePath(pattern)}`);
  return glob;
}

function including(named: readonly RelPath[], globs: readonly ((path: string) => boolean)[]) {
  const exact = new Set<string>(named);
  const selects = (path: string) => exact.has(path) || globs.some((glob) => glob(path));
  return (path: RelPath): boolean => selects(path) || ancestorsOf(path).some(selects);
}
