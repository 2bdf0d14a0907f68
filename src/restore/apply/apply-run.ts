import type { ContentHash, OperationId } from '../../domain/ids.ts';
import { comparePaths, parentOf, type RelPath } from '../../domain/rel-path.ts';
import type { Entry, Skip, SkipReason } from '../../domain/snapshot.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import type { RestoreAction } from '../plan/restore-plan.ts';
import { skipReasonOf } from './failure.ts';
import type { FoundEntry } from './found-entry.ts';
import { type Temporaries, temporariesOf } from './temporaries.ts';
import type { WorkspaceTree } from './workspace-tree.ts';

/** Streams a blob of the store; a wrong or missing one throws. */
export type ContentSource = (hash: ContentHash) => Iterable<Buffer> | AsyncIterable<Buffer>;

/** One action on its way. */
export interface Step {
  readonly action: RestoreAction;
  readonly path: RelPath;
  readonly temporaries: Temporaries;
  /** `temporaries.fresh` holds the entry already (recovery found it). */
  readonly prepared: boolean;
  state: 'waiting' | 'done' | 'skipped';
  /** What lay at the path is at `temporaries.old`. */
  displaced: boolean;
  /** `temporaries.fresh` exists and is of no more use. */
  lingering: boolean;
  /** the file that was written for the path, as it lies there once the step is done */
  written: FoundEntry | undefined;
}

/** Something that a restore moved out of the way, that no snapshot holds, and that could not be put back. */
export interface Displaced {
  readonly path: RelPath;
  /** Where it lies now; it stays there until {@link discardDisplaced}. */
  readonly temporary: RelPath;
  readonly kind: 'file' | 'symlink';
}

/** The mode that a directory has to end up with. */
export interface FinalMode {
  readonly wanted: number;
  /** modes that only this restore can have left there */
  readonly ours: readonly number[];
}

/** A restore at work: its tools and what it has found out so far. */
export interface ApplyRun {
  /** real path of the workspace */
  readonly root: string;
  readonly tree: WorkspaceTree;
  readonly fs: FileSystem;
  readonly content: ContentSource;
  readonly preserveMtime: boolean;
  readonly onStep: (finished: number) => void;
  readonly skips: Map<RelPath, Skip>;
  readonly displaced: Displaced[];
  readonly finalModes: Map<RelPath, FinalMode>;
  /** directories whose entries changed */
  readonly touched: Set<RelPath | ''>;
  finished: number;
}

export interface ApplyTools {
  readonly root: string;
  readonly tree: WorkspaceTree;
  readonly fs: FileSystem;
  readonly content: ContentSource;
  readonly preserveMtime: boolean;
  readonly onProgress?: ((finished: number) => void) | undefined;
}

export function startRun({ onProgress = () => {}, ...tools }: ApplyTools): ApplyRun {
  const { root, tree, fs, content, preserveMtime } = tools;
  return {
    root,
    tree,
    fs,
    content,
    preserveMtime,
    onStep: onProgress,
    skips: new Map(),
    displaced: [],
    finalModes: new Map(),
    touched: new Set(),
    finished: 0,
  };
}

export function newStep(action: RestoreAction, operationId: OperationId, n: number, prepared = false): Step {
  const temporaries = temporariesOf(action.path, operationId, n);
  return {
    action,
    path: action.path,
    temporaries,
    prepared,
    state: 'waiting',
    displaced: false,
    lingering: false,
    written: undefined,
  };
}

/** What must lie at the path at this moment: a directory that gives way is gone by now, and a file that makes way for one is moved. */
export function expectedAt({ action: { before, after } }: Step): Entry | undefined {
  return before?.kind === 'directory' || after?.kind === 'directory' ? undefined : before;
}

export function skipStep(run: ApplyRun, step: Step, reason: SkipReason, detail: string): void {
  if (step.state === 'waiting') countFinished(run);
  step.state = 'skipped';
  note(run, step.path, reason, detail);
}

export function finishStep(run: ApplyRun, step: Step): void {
  step.state = 'done';
  run.touched.add(parentOf(step.path));
  countFinished(run);
}

/** Reports a path without giving it up. */
export function note(run: ApplyRun, path: RelPath, reason: SkipReason, detail: string): void {
  run.skips.set(path, { path, reason, detail });
}

/** Does one step; a failure that belongs to its path skips it, any other stops the restore. */
export function attempt(run: ApplyRun, step: Step, body: () => void): void {
  try {
    run.tree.lookAgain();
    body();
  } catch (error) {
    skipStep(run, step, skipReasonOf(error, step.path), messageOf(error));
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function sortedSkips(run: ApplyRun): readonly Skip[] {
  return [...run.skips.values()].sort((a, b) => comparePaths(a.path, b.path));
}

function countFinished(run: ApplyRun): void {
  run.finished += 1;
  run.onStep(run.finished);
}
