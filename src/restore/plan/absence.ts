import { parentOf, type RelPath } from '../../domain/rel-path.ts';
import type { SkipReason, SnapshotView } from '../../domain/snapshot.ts';
import type { Scope } from '../../workspace/scope/scope.ts';

/** Why the absence of a path from a snapshot proves nothing. */
export interface Unproven {
  readonly reason: SkipReason;
  /** the directory that was not listed; undefined: the whole walk stopped short */
  readonly at: RelPath | undefined;
}

/** What a snapshot knows of the names in one directory. */
type Listing = 'listed' | 'void' | Unproven;

/**
 * Derives known absence: a path that a snapshot has not got was absent if its parent directory was listed completely, or was itself
 * known absent or no directory, and no rule of that moment left out a directory between the path and what the snapshot has.
 *
 * @returns for a path that the snapshot has not got: undefined where it was absent for certain, else why that is unproven
 */
export function createAbsence(snapshot: SnapshotView, scope: Scope): (path: RelPath) => Unproven | undefined {
  if (snapshot.truncated) return () => ({ reason: 'truncated', at: undefined });
  const listings = new Map<RelPath | '', Listing>([['', 'listed']]);

  function listingOf(directory: RelPath | ''): Listing {
    const known = listings.get(directory);
    if (known !== undefined) return known;
    const listing = derive(directory as RelPath);
    listings.set(directory, listing);
    return listing;
  }

  function derive(directory: RelPath): Listing {
    const node = snapshot.get(directory);
    if (node?.kind === 'observed') return { reason: node.reason, at: directory };
    if (node?.kind === 'directory') {
      return node.listing === 'complete' ? 'listed' : { reason: 'truncated', at: directory };
    }
    if (node !== undefined) return 'void';
    const above = listingOf(parentOf(directory));
    if (typeof above === 'object') return above;
    const reason = scope.reasonToSkip(directory, 'directory');
    return reason === undefined ? 'void' : { reason, at: directory };
  }

  return (path) => {
    const listing = listingOf(parentOf(path));
    return typeof listing === 'object' ? listing : undefined;
  };
}
