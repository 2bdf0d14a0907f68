import type { BigIntStats } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { WaymarkError } from '../domain/errors.ts';
import { refuseAborted } from '../domain/refuse-aborted.ts';
import { ancestorsOf, quotePath, type RelPath } from '../domain/rel-path.ts';
import type { FrozenRules } from '../domain/rules.ts';
import type { Clock } from '../platform/clock.ts';
import type { Git } from '../platform/git-process.ts';
import { type FileClock, fileClockOf } from './file-clock.ts';
import { gitDirectoriesInside } from './git-directory.ts';
import type { Observation, ObserveOptions } from './observation.ts';
import { describeObservation } from './observed-workspace.ts';
import { LiveIgnore } from './scope/live-ignore.ts';
import { type KnownRules, knownRules, sameRules, sameSelection } from './scope/scope-source.ts';
import { ScopeTree } from './scope/scope-tree.ts';
import { findTrackedExceptions, type TrackedExceptions } from './scope/tracked-exceptions.ts';
import { look } from './walk/look.ts';
import { secondLook } from './walk/second-look.ts';
import type { TableCache } from './walk/table-cache.ts';
import { tally } from './walk/tally.ts';
import { FLAG, TreeTable } from './walk/tree-table.ts';
import type { ScopeWatch } from './walk/walk-options.ts';
import { Walker } from './walk/walker.ts';

const INTERRUPTED = 'The walk was interrupted';
const NOTHING: ReadonlySet<string> = new Set();
const FROZEN: ScopeWatch = { enter: () => false, passBy: () => undefined };
/** Indexes can lead to repositories whose indexes lead further. */
const MAX_TRACKED_ROUNDS = 8;

/** One observation, from the first look at the root to the comparison with the base. */
export class ObservationRun {
  readonly #options: ObserveOptions;
  readonly #clock: Clock;
  readonly #git: Git | undefined;
  readonly #base: TableCache | undefined;
  readonly #startMs: number;
  readonly #known: KnownRules;
  readonly #scope: ScopeTree;
  readonly #table: TreeTable;
  readonly #live: LiveIgnore | undefined;
  readonly #fileClock: FileClock;
  /** other rules than the base's, so that nothing it concluded from them holds */
  readonly #rescope: boolean;
  #tracked: TrackedExceptions;

  constructor(options: ObserveOptions, clock: Clock, git: Git | undefined, base: TableCache | undefined) {
    this.#options = options;
    this.#clock = clock;
    this.#git = git;
    this.#base = base;
    this.#startMs = clock.now();
    const { root, scope } = options;
    this.#known = knownRules(scope, root, base?.meta.rules);
    const { fixed, ignoreFiles, trackedExceptions } = this.#known;
    this.#scope = new ScopeTree(fixed, ignoreFiles, trackedExceptions);
    this.#table = base ? base.startWalk() : new TreeTable(1024);
    this.#rescope = base === undefined || !sameRules(base.meta.rules, this.#known);
    this.#live = scope.kind === 'live' ? new LiveIgnore(root, this.#table, this.#scope) : undefined;
    if (this.#live && this.#rescope) this.#live.changed = true;
    this.#fileClock = fileClockOf(root);
    this.#tracked = { paths: trackedExceptions, memories: base?.meta.indexes ?? [] };
  }

  async observe(): Promise<Observation> {
    const rootStat = this.#lookAtRoot();
    const { unlimited = false, forced = NOTHING } = this.#options;
    const maxFiles = unlimited || forced.size > 0 ? undefined : this.#known.limits.maxFiles;
    if (this.#base && !sameSelection(this.#base.meta.rules, this.#known)) untrustDirectories(this.#table);
    const walker = this.#createWalker(rootStat, maxFiles, await this.#scout(rootStat.dev));
    await this.#drive(walker.walk(rootStat), walker);
    if (walker.overflowed) return this.#tooMany(walker.filesMet);
    await this.#followIndexes(walker);
    if (walker.listedAny) await this.#drive(secondLook(walker, this.#clock), walker);
    if (this.#live?.changed && (await this.#followIndexes(walker))) {
      await this.#drive(secondLook(walker, this.#clock), walker);
    }
    const { files, reachable } = tally(
      this.#table,
      unlimited ? Number.POSITIVE_INFINITY : this.#known.limits.maxTotalBytes,
    );
    if (maxFiles !== undefined && files > maxFiles) return this.#tooMany(files);
    return describeObservation({
      options: this.#options,
      table: this.#table,
      base: this.#base,
      rules: this.#rules(),
      indexes: this.#tracked.memories,
      fileClock: this.#fileClock,
      clock: this.#clock,
      startMs: this.#startMs,
      maxFileBytes: this.#maxFileBytes,
      reachable,
    });
  }

  get #maxFileBytes(): number {
    return this.#options.unlimited ? Number.POSITIVE_INFINITY : this.#known.limits.maxFileBytes;
  }

  #lookAtRoot(): BigIntStats {
    const { root } = this.#options;
    const stat = look(root);
    if (stat === null) throw this.#rootError();
    if (!stat?.isDirectory()) {
      throw new WaymarkError('WORKSPACE_NOT_FOUND', `Workspace ${quotePath(root)} is not a directory`);
    }
    return stat;
  }

  #rootError(): WaymarkError {
    const { root } = this.#options;
    return look(root)
      ? new WaymarkError('PERMISSION_DENIED', `Workspace ${quotePath(root)} cannot be read`)
      : new WaymarkError('WORKSPACE_NOT_FOUND', `Workspace ${quotePath(root)} does not exist`);
  }

  async #scout(device: bigint): Promise<Uint8Array | undefined> {
    const { root, scouts, signal, onProgress } = this.#options;
    if (scouts === undefined || this.#base === undefined) return undefined;
    const onPause = (rows: number): void => {
      refuseAborted(signal, INTERRUPTED);
      onProgress?.(rows);
    };
    return await scouts.scout({ base: this.#base, root, device: Number(device), onPause });
  }

  #createWalker(
    rootStat: BigIntStats,
    maxFiles: number | undefined,
    scouted: Uint8Array | undefined,
  ): Walker {
    const { root, forced = NOTHING, reread = NOTHING, isStored } = this.#options;
    const base = this.#base?.meta;
    return new Walker(this.#table, {
      root,
      device: rootStat.dev,
      maxFileBytes: this.#maxFileBytes,
      reread,
      isStored,
      scope: this.#scope,
      watch: this.#live ?? FROZEN,
      clock: this.#fileClock,
      startMs: this.#startMs,
      rescope: this.#rescope,
      forced,
      touched: new Set([...forced, ...(base?.forced ?? [])]),
      maxFiles,
      rootError: () => this.#rootError(),
      gitDirectories: gitDirectoriesInside(root),
      scouted,
    });
  }

  /** Brings what git indexes list into scope, and out of it what they list no more. Tells whether anything was judged anew. */
  async #followIndexes(walker: Walker): Promise<boolean> {
    const live = this.#live;
    if (!live) return false;
    let rescanned = false;
    for (let round = 0; round < MAX_TRACKED_ROUNDS; round += 1) {
      const before = this.#tracked;
      this.#tracked = await this.#findTracked(live);
      live.changed = false;
      const moved = difference(before.paths, this.#tracked.paths);
      if (moved.length === 0) return rescanned;
      this.#scope.setTracked(this.#tracked.paths);
      await this.#drive(walker.rescan(new Set(moved.flatMap((path) => [...ancestorsOf(path)]))), walker);
      rescanned = true;
    }
    return rescanned;
  }

  async #findTracked(live: LiveIgnore): Promise<TrackedExceptions> {
    const { root, signal } = this.#options;
    if (!this.#git) return { paths: [], memories: [] };
    return findTrackedExceptions(
      {
        root,
        scope: this.#scope,
        live,
        git: this.#git,
        clock: this.#fileClock,
        startMs: this.#startMs,
        signal,
      },
      this.#tracked,
    );
  }

  #rules(): FrozenRules {
    const { scope } = this.#options;
    if (scope.kind === 'frozen') return scope.rules;
    const { limits, fixed } = this.#known;
    const rules: FrozenRules = {
      version: 1,
      limits,
      ...fixed,
      ignoreFiles: this.#live?.ignoreFiles() ?? [],
      trackedExceptions: this.#tracked.paths,
    };
    const base = this.#base?.meta.rules;
    return base && JSON.stringify(base) === JSON.stringify(rules) ? base : rules;
  }

  #tooMany(files: number): Observation {
    return { kind: 'too_many_files', files, rules: this.#rules() };
  }

  /** Runs a walk to its end, with pauses in which the process may do other things. */
  async #drive(steps: Generator<void>, walker: Walker): Promise<void> {
    const { signal, onProgress } = this.#options;
    while (!steps.next().done) {
      refuseAborted(signal, INTERRUPTED);
      onProgress?.(walker.filesMet);
      await setImmediate();
    }
    refuseAborted(signal, INTERRUPTED);
  }
}

function untrustDirectories(table: TreeTable): void {
  for (let row = 0; row < table.count; row += 1) {
    if (table.isWalked(row)) table.clear(row, FLAG.trusted);
  }
}

function difference(a: readonly RelPath[], b: readonly RelPath[]): readonly RelPath[] {
  return [...new Set(a).symmetricDifference(new Set(b))];
}
