import type { BigIntStats } from 'node:fs';
import { joinRel, type RelPath } from '../../domain/rel-path.ts';
import { hasLinkedWorktrees } from '../git-directory.ts';
import { isGitName } from '../scope/fixed-names.ts';
import type { DirectoryScope } from '../scope/scope-tree.ts';
import { SCOUTED } from '../scout/scout-sheet.ts';
import { isExcludedByRule } from './excluded.ts';
import { type Listing, listNames } from './list-names.ts';
import { AS_RECORDED, look, type Seen, TYPE, typeOf, whatOf } from './look.ts';
import { ancestors, holds } from './path-sets.ts';
import { ENTER, RowSettler } from './row-settler.ts';
import { FLAG, KIND, type TreeTable } from './tree-table.ts';
import type { WalkOptions } from './walk-options.ts';
import { wayFor } from './way.ts';

/** How a directory is visited. */
const VISIT = {
  /** its names must be read */
  list: 1,
  /** it and what lies below is judged anew */
  rescope: 2,
  /** it lies in something forced */
  forced: 4,
} as const;

const STEPS_BETWEEN_PAUSES = 128;

/**
 * Walks a workspace over a table that starts as a copy of the base's. A directory whose stat proves that its names are the same is not
 * read; its entries are `lstat`ed. Sync inside; the generators pause now and then so that the caller can yield, report and abort.
 */
export class Walker {
  readonly table: TreeTable;
  /** a directory was read, so names may have moved between the reading of two directories */
  listedAny = false;
  /** the walk was stopped by `maxFiles` */
  overflowed = false;
  /** files in scope met so far */
  filesMet = 0;
  /** our time before the looks that are going on, ms */
  phaseMs: number;
  readonly #options: WalkOptions;
  readonly #settler: RowSettler;
  readonly #aboveForced: ReadonlySet<string>;
  readonly #aboveTouched: ReadonlySet<string>;
  /** files are counted on their first visit only */
  #counting = false;
  readonly #rows: number[] = [];
  readonly #paths: (RelPath | '')[] = [];
  readonly #visits: number[] = [];

  constructor(table: TreeTable, options: WalkOptions) {
    this.table = table;
    this.#options = options;
    this.phaseMs = options.startMs;
    this.#settler = new RowSettler(table, options);
    this.#aboveForced = ancestors(options.forced);
    this.#aboveTouched = ancestors(options.touched);
  }

  absolute(path: RelPath | ''): string {
    const { root } = this.#options;
    return path === '' ? root : root === '/' ? `/${path}` : `${root}/${path}`;
  }

  /** Visits everything once. `rootStat` is the root's, taken before. */
  *walk(rootStat: BigIntStats): Generator<void> {
    const { table } = this;
    if (table.count === 0) table.blank(table.reserve(1), '');
    const known = table.sameStat(0, rootStat) && table.has(0, FLAG.trusted) && table.isWalked(0);
    if (!known) table.recordStat(0, rootStat);
    table.kind[0] = KIND.passage;
    const forced = this.#options.forced.has('') ? VISIT.forced | VISIT.rescope : 0;
    this.#push(0, '', (known ? 0 : VISIT.list) | (this.#options.rescope ? VISIT.rescope : 0) | forced);
    this.#counting = true;
    yield* this.#drain();
    this.#counting = false;
  }

  /** Judges the entries of some directories (given with all their ancestors) anew and visits what comes into scope. */
  *rescan(directories: ReadonlySet<string>): Generator<void> {
    const pending: [number, RelPath | ''][] = [[0, '']];
    for (let next = pending.pop(); next; next = pending.pop()) {
      const [row, path] = next;
      this.list(row, path, this.#isForced(path) ? VISIT.forced : 0);
      yield* this.#drain();
      for (const [child, childPath] of this.directoriesIn(row, path)) {
        if (directories.has(childPath)) pending.push([child, childPath]);
      }
    }
  }

  /** Reads a directory again after a change of its stat; visits what is new in it. Tells whether other names or types came out. */
  *relist(row: number, path: RelPath | ''): Generator<void, boolean> {
    const changed = this.list(row, path, VISIT.list | (this.#isForced(path) ? VISIT.forced : 0));
    yield* this.#drain();
    return changed;
  }

  *directoriesIn(row: number, path: RelPath | ''): Generator<[number, RelPath]> {
    const { table } = this;
    const start = table.childStart[row] as number;
    const end = start + (table.childCount[row] as number);
    for (let child = start; child < end; child += 1) {
      if (table.isWalked(child)) yield [child, joinRel(path, table.names.at(child))];
    }
  }

  #isForced(path: string): boolean {
    const { forced } = this.#options;
    if (forced.size === 0) return false;
    for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
      if (forced.has(at)) return true;
      if (at === '') return false;
    }
  }

  #push(row: number, path: RelPath | '', visit: number): void {
    this.#rows.push(row);
    this.#paths.push(path);
    this.#visits.push(visit);
  }

  *#drain(): Generator<void> {
    for (let steps = 1; this.#rows.length > 0 && !this.overflowed; steps += 1) {
      this.#visit(
        this.#rows.pop() as number,
        this.#paths.pop() as RelPath | '',
        this.#visits.pop() as number,
      );
      const { maxFiles } = this.#options;
      this.overflowed = maxFiles !== undefined && this.filesMet > maxFiles;
      if (steps % STEPS_BETWEEN_PAUSES === 0) yield;
    }
  }

  #visit(row: number, path: RelPath | '', visit: number): void {
    this.table.set(row, FLAG.listed);
    if ((visit & (VISIT.list | VISIT.rescope)) !== 0) this.list(row, path, visit);
    else if (this.#aboveTouched.size > 0 && this.#aboveTouched.has(path)) {
      this.list(row, path, visit | VISIT.list);
    } else if (
      (this.table.has(row, FLAG.hasIgnore) || path === '') &&
      this.#options.watch.enter(row, path, undefined)
    ) {
      this.list(row, path, visit | VISIT.rescope);
    } else {
      const depth = this.#rows.length;
      const files = this.filesMet;
      if (this.#revisit(row, path, visit)) return;
      this.#rows.length = this.#paths.length = this.#visits.length = depth;
      this.filesMet = files;
      this.list(row, path, visit | VISIT.list);
    }
  }

  /** Looks at the entries of a directory whose names are known. False: it is not as the table says after all. */
  #revisit(row: number, path: RelPath | '', visit: number): boolean {
    const { table } = this;
    const start = table.childStart[row] as number;
    const end = start + (table.childCount[row] as number);
    const prefix = this.#prefixOf(path);
    const { forced } = this.#options;
    for (let child = start; child < end; child += 1) {
      const kind = table.kind[child];
      if (kind === KIND.none) return false;
      const scouted = this.#wasScouted(child);
      if (scouted && kind === KIND.file && forced.size === 0 && this.#settler.stays(child)) {
        this.filesMet += 1;
        continue;
      }
      const name = table.names.at(child);
      if (kind === KIND.observed && isExcludedByRule(table.reasonAt(child))) {
        if (!this.#revisitHidden(child, path, prefix, name)) return false;
        continue;
      }
      const stat = scouted ? AS_RECORDED : look(prefix + name);
      if (stat === undefined) return false;
      if (stat === null) {
        if (kind !== KIND.observed || table.reasonAt(child) !== 'unreadable') return false;
        continue;
      }
      if (stat !== AS_RECORDED && typeOf(Number(stat.mode)) !== typeOf(table.mode[child] as number))
        return false;
      this.#settle(child, stat, path, name, visit, kind === KIND.passage);
    }
    return true;
  }

  /** Scouts looked in the time of the first visit; later visits look themselves. */
  #wasScouted(row: number): boolean {
    return this.#counting && this.#options.scouted?.[row] === SCOUTED.same;
  }

  /** A directory that is not entered may have become a repository, whose index then counts. */
  #revisitHidden(child: number, path: RelPath | '', prefix: string, name: string): boolean {
    const { table } = this;
    if (typeOf(table.mode[child] as number) !== TYPE.directory) return true;
    const stat = look(prefix + name);
    if (stat === undefined) return false;
    if (stat === null || table.sameStat(child, stat)) return true;
    table.recordStat(child, stat);
    this.#options.watch.passBy(joinRel(path, name));
    return true;
  }

  #settle(
    row: number,
    stat: Seen,
    path: RelPath | '',
    name: string,
    visit: number,
    isPassage: boolean,
  ): void {
    const childPath = joinRel(path, name);
    const forced = (visit & VISIT.forced) !== 0 || holds(this.#options.forced, childPath);
    const type = this.#typeOf(row, stat);
    if (type !== TYPE.directory) {
      if (type === TYPE.file && this.#counting) this.filesMet += 1;
      this.#settler.settle(row, stat, childPath, forced);
      return;
    }
    const rescope = (visit & VISIT.rescope) !== 0 || holds(this.#options.touched, childPath);
    const enter = this.#settler.settleDirectory(row, stat, isPassage);
    if (enter === ENTER.no || (enter === ENTER.again && !rescope)) return;
    this.#push(
      row,
      childPath,
      (enter === ENTER.read ? VISIT.list : 0) | (rescope ? VISIT.rescope : 0) | (forced ? VISIT.forced : 0),
    );
  }

  /**
   * Judges every name of a directory, read now where `visit` says so, and puts the entries into fresh rows; what is known of a name that stays
   * comes along. Tells whether names or types differ from before.
   */
  list(row: number, path: RelPath | '', visit: number): boolean {
    const reads = (visit & VISIT.list) !== 0;
    const listing = reads ? this.#read(row, path) : { ok: true as const, names: this.#knownNames(row) };
    if (!listing.ok) return this.#failed(row, path, listing.gone);
    if (this.#isGitDirectory(path, listing.names)) {
      this.table.setObserved(row, 'special', 'directory');
      return true;
    }
    const rescoped = this.#options.watch.enter(row, path, reads ? listing.names : undefined);
    return this.#replaceRows(row, path, listing.names, rescoped ? visit | VISIT.rescope : visit);
  }

  /** A repository is the user's under whatever name. */
  #isGitDirectory(path: RelPath | '', names: readonly string[]): boolean {
    return path !== '' && (this.#options.gitDirectories.has(path) || hasLinkedWorktrees(names));
  }

  #knownNames(row: number): readonly string[] {
    const start = this.table.childStart[row] as number;
    return this.table.names.slice(start, start + (this.table.childCount[row] as number));
  }

  #read(row: number, path: RelPath | ''): Listing {
    const { table } = this;
    const listing = listNames(this.absolute(path));
    if (!listing.ok) return listing;
    this.listedAny = true;
    table.clear(row, FLAG.partial | FLAG.settled);
    const { clock } = this.#options;
    if (clock.isSettled(table.mtime[row] as bigint, table.ctime[row] as bigint, this.phaseMs)) {
      table.set(row, FLAG.settled);
    }
    return listing;
  }

  /** Gives a directory rows for these names, in place of those it had. */
  #replaceRows(row: number, path: RelPath | '', names: readonly string[], visit: number): boolean {
    const { table } = this;
    const directory = this.#options.scope.directory(path);
    const prefix = this.#prefixOf(path);
    let old = table.childStart[row] as number;
    const oldEnd = old + (table.childCount[row] as number);
    const start = table.reserve(names.length);
    let to = start;
    let changed = false;
    for (const name of names) {
      if (isGitName(name)) continue;
      for (; old < oldEnd && table.names.at(old) < name; old += 1) {
        changed ||= table.kind[old] !== KIND.none;
      }
      const isKnown = old < oldEnd && table.names.at(old) === name && table.kind[old] !== KIND.none;
      const stat = isKnown && this.#wasScouted(old) ? AS_RECORDED : look(prefix + name);
      if (stat === undefined) continue;
      if (isKnown) table.copyRow(old++, to);
      else table.blank(to, name);
      const before = isKnown ? typeOf(table.mode[to] as number) : undefined;
      if (!this.#place(to, stat, directory, path, name, visit)) continue;
      changed ||= typeOf(table.mode[to] as number) !== before;
      to += 1;
    }
    for (; old < oldEnd; old += 1) changed ||= table.kind[old] !== KIND.none;
    table.shrinkTo(to);
    table.childStart[row] = start;
    table.childCount[row] = to - start;
    return changed;
  }

  #typeOf(row: number, stat: Seen): number {
    return typeOf(stat === AS_RECORDED ? (this.table.mode[row] as number) : Number(stat.mode));
  }

  #prefixOf(path: RelPath | ''): string {
    const absolute = this.absolute(path);
    return absolute === '/' ? absolute : `${absolute}/`;
  }

  /** Gives a row its verdict. False: the path is not even observed. */
  #place(
    row: number,
    seen: Seen | null,
    directory: DirectoryScope,
    path: RelPath | '',
    name: string,
    visit: number,
  ): boolean {
    const { table } = this;
    const childPath = joinRel(path, name);
    const isDirectory = seen !== null && this.#typeOf(row, seen) === TYPE.directory;
    const forced = (visit & VISIT.forced) !== 0 || holds(this.#options.forced, childPath);
    const verdict = this.#options.scope.judge(directory, name, childPath, isDirectory);
    const way = wayFor(verdict, {
      path: childPath,
      isDirectory,
      forced,
      aboveForced: holds(this.#aboveForced, childPath),
      scope: this.#options.scope,
    });
    if (way === 'skip') return false;
    if (way !== 'observe' && seen) {
      this.#settle(row, seen, path, name, visit, way === 'pass');
      return true;
    }
    const stat = seen === AS_RECORDED ? look(this.absolute(childPath)) : seen;
    if (stat === undefined) return false;
    if (stat && !table.sameStat(row, stat)) table.recordStat(row, stat);
    else if (stat === null) table.mode[row] = 0;
    table.setObserved(row, verdict.reason ?? 'unreadable', stat ? whatOf(stat) : 'unknown');
    table.size[row] = stat ? Number(stat.size) : 0;
    if (verdict.kind === 'hidden' && isDirectory) this.#options.watch.passBy(childPath);
    return true;
  }

  /** A directory could not be read: it is unreadable, or no directory any more, which the second look at its parent sorts out. */
  #failed(row: number, path: RelPath | '', gone: boolean): boolean {
    const { table } = this;
    if (path === '') throw this.#options.rootError();
    if (gone) {
      this.listedAny = true;
      table.kind[row] = KIND.none;
      table.childCount[row] = 0;
      table.set(row, FLAG.dirty);
    } else table.setObserved(row, 'unreadable', 'directory');
    return true;
  }
}
