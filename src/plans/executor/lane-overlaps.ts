import { WaymarkError } from '../../domain/errors.ts';
import type { PathChange } from '../../domain/operation.ts';
import { quotePath, type RelPath } from '../../domain/rel-path.ts';
import { type Entry, sameEntry } from '../../domain/snapshot.ts';

/** What one of several subplans changed. */
export interface LaneChanges {
  readonly name: string;
  readonly changes: readonly PathChange[];
}

/**
 * Refuses subplans that left the same path in different states: nobody could say which is right.
 *
 * @throws WaymarkError `BUSINESS_RULE_VIOLATION` naming the paths
 */
export function refuseOverlaps(lanes: readonly LaneChanges[]): void {
  const owners = new Map<RelPath, { readonly name: string; readonly after: Entry | undefined }>();
  const overlaps: { readonly path: RelPath; readonly names: readonly [string, string] }[] = [];
  for (const { name, changes } of lanes) {
    for (const { path, after } of changes) {
      const other = owners.get(path);
      if (other === undefined) owners.set(path, { name, after });
      else if (!alike(other.after, after)) overlaps.push({ path, names: [other.name, name] });
    }
  }
  const [first] = overlaps;
  if (first === undefined) return;
  throw new WaymarkError(
    'BUSINESS_RULE_VIOLATION',
    `Subplans "${first.names[0]}" and "${first.names[1]}" both changed ${quotePath(first.path)}`,
    {
      hint: 'Give them separate files, or run them one after another',
      details: { paths: overlaps.map(({ path }) => path) },
    },
  );
}

function alike(a: Entry | undefined, b: Entry | undefined): boolean {
  return a === undefined || b === undefined ? a === b : sameEntry(a, b);
}
