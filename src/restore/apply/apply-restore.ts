import type { OperationId } from '../../domain/ids.ts';
import { parseRelPath } from '../../domain/rel-path.ts';
import type { Skip } from '../../domain/snapshot.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import type { RestoreAction, RestorePlan } from '../plan/restore-plan.ts';
import {
  type ApplyRun,
  type ContentSource,
  type Displaced,
  messageOf,
  newStep,
  note,
  type Step,
  sortedSkips,
  startRun,
} from './apply-run.ts';
import { settleDisplaced } from './displacement.ts';
import { failure, skipReasonOf } from './failure.ts';
import { setDirectoryModes } from './finish-directories.ts';
import { removeEntries } from './remove-entries.ts';
import { syncDirectories } from './sync-written.ts';
import { lockedDirectories, type UnlockedDirectory, unlockDirectories } from './unlock-directories.ts';
import { verifyWritten } from './verify-written.ts';
import { openTree } from './workspace-tree.ts';
import { writeEntries } from './write-entries.ts';
import { removeTemporary } from './write-temporary.ts';

export interface ApplyInput {
  /** real path of the workspace */
  readonly root: string;
  readonly plan: Pick<RestorePlan, 'actions'>;
  /** names the temporaries; never used before */
  readonly operationId: OperationId;
  readonly content: ContentSource;
  readonly fs: FileSystem;
  /** Rewritten files get the recorded mtime; default: the present one, so that build tools see them. */
  readonly preserveMtime?: boolean;
  /** As the journal has them; default: found out now. */
  readonly unlocked?: readonly UnlockedDirectory[];
  /** Called with the number of actions dealt with. */
  readonly onProgress?: (finished: number) => void;
}

export interface ApplyResult {
  /** in path order */
  readonly done: readonly RestoreAction[];
  /** What was left alone or not wholly restored, with the reason; in path order. */
  readonly skips: readonly Skip[];
  /** To be added to the safety checkpoint, then discarded (`discardDisplaced`), before the journal is closed. */
  readonly displaced: readonly Displaced[];
}

/**
 * Executes a plan. The journal must be durable before. Each path changes only while it still is what the safety snapshot recorded; a path
 * that cannot be changed is skipped with its reason and the others go on.
 *
 * @throws WaymarkError `UNSAFE_PATH` before anything is written; `NO_SPACE`, `IO_ERROR`, `OBJECT_MISSING`, `OBJECT_CORRUPT`: stopped half way,
 * the journal must stay open for recovery
 */
export async function applyRestore(input: ApplyInput): Promise<ApplyResult> {
  for (const { path } of input.plan.actions) parseRelPath(path);
  using tree = openTree(input.root);
  const run = startRun({ ...input, tree, preserveMtime: input.preserveMtime ?? false });
  const steps = input.plan.actions.map((action, n) => newStep(action, input.operationId, n));
  unlockDirectories(run, input.unlocked ?? lockedDirectories(tree, input.plan));
  await executeSteps(run, steps);
  return resultOf(run, steps);
}

/** Does the steps (in path order) of a started run, from the first removal to the last look. */
export async function executeSteps(run: ApplyRun, steps: readonly Step[]): Promise<void> {
  removeEntries(run, steps);
  await writeEntries(run, steps);
  const unsettled = steps.filter((step) => settle(run, step) !== undefined);
  for (const step of unsettled) {
    const error = settle(run, step);
    if (error !== undefined) note(run, step.path, skipReasonOf(error, step.path), messageOf(error));
  }
  setDirectoryModes(run, steps);
  syncDirectories(run);
  verifyWritten(run, steps);
}

export function resultOf(run: ApplyRun, steps: readonly Step[]): ApplyResult {
  return {
    done: steps.filter(({ state }) => state === 'done').map(({ action }) => action),
    skips: sortedSkips(run),
    displaced: run.displaced,
  };
}

/** @returns why a temporary of the step could not be dealt with */
function settle(run: ApplyRun, step: Step): unknown {
  if (!step.displaced && !step.lingering) return undefined;
  try {
    run.tree.lookAgain();
    settleDisplaced(run, step);
    if (step.lingering) removeTemporary(run, step);
    return step.lingering ? failure('EACCES', 'A temporary file beside it could not be removed') : undefined;
  } catch (error) {
    skipReasonOf(error, step.path);
    return error;
  }
}
