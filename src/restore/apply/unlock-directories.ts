import { ancestorsOf, comparePaths, parentOf, type RelPath } from '../../domain/rel-path.ts';
import type { RestorePlan } from '../plan/restore-plan.ts';
import type { ApplyRun } from './apply-run.ts';
import { codeOf, skipReasonOf } from './failure.ts';
import { findReachable } from './found-entry.ts';
import type { WorkspaceTree } from './workspace-tree.ts';

/** A directory that is opened up while a restore works in it, and the permission bits that it has otherwise. */
export interface UnlockedDirectory {
  readonly path: RelPath;
  readonly mode: number;
}

/** The mode a directory has while a restore works in it. */
export function workingMode(mode: number): number {
  return mode | 0o700;
}

/** Finds the existing directories whose permissions keep their owner from the plan's work. */
export function lockedDirectories(
  tree: WorkspaceTree,
  plan: Pick<RestorePlan, 'actions'>,
): readonly UnlockedDirectory[] {
  const needed = new Map<RelPath, number>();
  for (const { path } of plan.actions) {
    const parent = parentOf(path);
    for (const ancestor of ancestorsOf(path)) {
      const bits = ancestor === parent ? 0o300 : 0o100;
      needed.set(ancestor, (needed.get(ancestor) ?? 0) | bits);
    }
  }
  const locked: UnlockedDirectory[] = [];
  const missing = new Set<RelPath | ''>();
  for (const [path, bits] of [...needed].sort(([a], [b]) => comparePaths(a, b))) {
    const mode = missing.has(parentOf(path)) ? undefined : directoryMode(tree, path);
    if (mode === undefined) missing.add(path);
    else if ((mode & bits) !== bits) locked.push({ path, mode });
  }
  return locked;
}

function directoryMode(tree: WorkspaceTree, path: RelPath): number | undefined {
  try {
    const found = findReachable(tree, path);
    return found?.kind === 'directory' ? found.mode : undefined;
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}

/** Opens the directories up, from the top; they get their mode back with the final modes. Where one stays closed, what is in it says so. */
export function unlockDirectories(run: ApplyRun, locked: readonly UnlockedDirectory[]): void {
  for (const { path, mode } of locked) {
    try {
      const found = findReachable(run.tree, path);
      if (found?.kind !== 'directory') continue;
      if (found.mode !== mode && found.mode !== workingMode(mode)) continue;
      run.finalModes.set(path, { wanted: mode, ours: [workingMode(mode)] });
      if (found.mode === mode) run.fs.chmod(run.tree.locate(path), workingMode(mode));
    } catch (error) {
      skipReasonOf(error, path);
    }
  }
}
