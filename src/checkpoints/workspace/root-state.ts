import type { Checkpoint } from '../../domain/checkpoint.ts';
import { isWaymarkError } from '../../domain/errors.ts';
import { isSameRoot, type WorkspaceIdentity } from '../../domain/workspace.ts';
import { identifyWorkspace } from '../../workspace/identity.ts';

/** Whether the directory that a checkpoint was taken of is there: `missing` (perhaps only unmounted), or `replaced` by another one at its path. */
export type RootState = 'present' | 'missing' | 'replaced';

/** Checkpoints of one directory that is not there. */
export interface OrphanedRoot {
  readonly workspace: WorkspaceIdentity;
  readonly state: Exclude<RootState, 'present'>;
  readonly checkpoints: readonly Checkpoint[];
}

/** The one classifier, for status, retention, previews and what is really dropped. Looks at each path once. */
export function rootClassifier(): (checkpoint: Pick<Checkpoint, 'workspace'>) => RootState {
  const found = new Map<string, WorkspaceIdentity | undefined>();
  return ({ workspace }) => {
    if (!found.has(workspace.path)) found.set(workspace.path, lookAt(workspace.path));
    const present = found.get(workspace.path);
    if (present === undefined) return 'missing';
    return isSameRoot(workspace, present) ? 'present' : 'replaced';
  };
}

/** Sorts out the checkpoints whose directory is not there, by directory. */
export function orphanedRoots(checkpoints: readonly Checkpoint[]): readonly OrphanedRoot[] {
  const stateOf = rootClassifier();
  const roots = Map.groupBy(
    checkpoints.filter((checkpoint) => stateOf(checkpoint) !== 'present'),
    ({ workspace: { path, inode, birthtimeNs } }) => `${inode} ${birthtimeNs} ${path}`,
  );
  return [...roots.values()].flatMap((own) => {
    const [first] = own;
    const state = first && stateOf(first);
    return first === undefined || state === undefined || state === 'present'
      ? []
      : [{ workspace: first.workspace, state, checkpoints: own }];
  });
}

function lookAt(path: string): WorkspaceIdentity | undefined {
  try {
    return identifyWorkspace(path);
  } catch (error) {
    if (isWaymarkError(error)) return undefined;
    throw error;
  }
}
