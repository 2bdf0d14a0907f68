import type { BigIntStats } from 'node:fs';
import { comparePaths, type RelPath } from '../domain/rel-path.ts';
import type { FrozenRules } from '../domain/rules.ts';
import type { Clock } from '../platform/clock.ts';
import type { FileClock } from './file-clock.ts';
import type { Observation, ObserveOptions } from './observation.ts';
import { createFileReader } from './read/file-reader.ts';
import { readMany } from './read/read-many.ts';
import { type IndexMemory, isUnlisted } from './scope/tracked-files.ts';
import { compact } from './walk/compact.ts';
import { look } from './walk/look.ts';
import { applyReadings, trustSettled } from './walk/next-cache.ts';
import { relook } from './walk/relook.ts';
import { type Survey, survey } from './walk/survey.ts';
import { TableCache } from './walk/table-cache.ts';
import { FLAG, type TreeTable } from './walk/tree-table.ts';

/** A finished walk. */
export interface Walked {
  readonly options: ObserveOptions;
  readonly table: TreeTable;
  readonly base: TableCache | undefined;
  readonly rules: FrozenRules;
  readonly indexes: readonly IndexMemory[];
  readonly fileClock: FileClock;
  readonly clock: Clock;
  readonly startMs: number;
  readonly maxFileBytes: number;
  /** rows in use */
  readonly reachable: number;
}

/** Describes a finished walk relative to its base. */
export function describeObservation(walked: Walked): Observation & { readonly kind: 'observed' } {
  const { options, table, base, rules } = walked;
  const found = survey(table, base?.table);
  const truncated = table.has(0, FLAG.partial);
  const read = createReader(walked, found);
  return {
    kind: 'observed',
    root: options.root,
    draft: {
      base: base?.root,
      edits: found.edits,
      rules,
      truncated,
      read,
      relook: (gone) => relook(table, options.root, gone),
      readMany: (paths) => {
        const { root } = options;
        const device = look(root)?.dev ?? -1n;
        return readMany({ root, device, table, read }, paths, rowsOf(found, paths));
      },
    },
    unchanged: base !== undefined && found.edits.length === 0 && !truncated,
    stats: found.stats,
    unlisted: walked.indexes.filter(isUnlisted).map(({ dir }) => dir),
    skips: found.skips,
    storedCount: found.storedCount,
    storedBytes: found.storedBytes,
    next: (written) => {
      applyReadings(table, found, written.read);
      const settled = trustSettled(table, walked.fileClock, walked.startMs, base?.meta.finishedMs);
      const forced = [...(options.forced ?? [])].sort();
      if (base && !settled && written.root === base.root && found.edits.length === 0) {
        if (isSameMeta(base, rules, forced, walked.indexes)) {
          base.takeBack(table);
          return base;
        }
      }
      const isWasteful = walked.reachable < table.count * 0.75;
      return new TableCache(written.root, isWasteful ? compact(table, walked.reachable) : table, {
        rules,
        forced,
        indexes: walked.indexes,
        finishedMs: walked.clock.now(),
      });
    },
  };
}

function isSameMeta(
  { meta }: TableCache,
  rules: FrozenRules,
  forced: readonly string[],
  indexes: readonly IndexMemory[],
): boolean {
  return (
    meta.rules === rules && JSON.stringify([meta.forced, meta.indexes]) === JSON.stringify([forced, indexes])
  );
}

function createReader({ options, table, maxFileBytes }: Walked, found: Survey) {
  const rowOf = (path: RelPath) => findPending(found, path);
  return createFileReader({
    root: options.root,
    maxBytes: (path) => {
      const row = rowOf(path);
      // What the walk did not ask to be read is wanted by name, so that nothing is lost with it: no limit counts.
      return row === undefined || table.has(row, FLAG.forced) ? Number.POSITIVE_INFINITY : maxFileBytes;
    },
    onRead: (path, stat) => {
      const row = rowOf(path);
      if (row !== undefined) noteReading(table, row, stat);
    },
  });
}

/** Keeps the stat that belongs to what was read, for the next walk. */
function noteReading(table: TreeTable, row: number, stat: BigIntStats): void {
  const same = table.sameStat(row, stat);
  if (table.has(row, FLAG.read) && !same) table.set(row, FLAG.unsure);
  table.set(row, FLAG.read);
  if (!same) table.recordStat(row, stat);
}

/** The rows of sorted paths; -1 for what the walk did not ask to be read. */
function rowsOf({ edits, rows }: Survey, paths: readonly RelPath[]): Int32Array {
  const found = new Int32Array(paths.length).fill(-1);
  let at = 0;
  for (const [index, path] of paths.entries()) {
    while (at < edits.length && comparePaths((edits[at] as Survey['edits'][number]).path, path) < 0) at += 1;
    const edit = edits[at];
    if (edit?.path === path && edit.node?.kind === 'pending') found[index] = rows[at] as number;
  }
  return found;
}

/** The row of a pending file, by binary search in the sorted edits. */
function findPending({ edits, rows }: Survey, path: RelPath): number | undefined {
  let low = 0;
  let high = edits.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const edit = edits[middle];
    if (edit === undefined) return undefined;
    const order = comparePaths(edit.path, path);
    if (order === 0) return edit.node?.kind === 'pending' ? rows[middle] : undefined;
    if (order < 0) low = middle + 1;
    else high = middle - 1;
  }
  return undefined;
}
