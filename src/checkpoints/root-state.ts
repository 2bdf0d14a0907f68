import { isWaymarkError } from '../domain/errors.ts';
import { isSameRoot, type WorkspaceIdentity } from '../domain/workspace.ts';
import { identifyWorkspace } from '../workspace/identity.ts';
import type { HomeContext } from './home-context.ts';

/** Whether a recorded workspace is there: `missing` (perhaps only unmounted), or `replaced` by another directory at its path. */
export interface RootState {
  readonly workspace: WorkspaceIdentity;
  readonly state: 'present' | 'missing' | 'replaced';
}

/** The one classifier of workspaces, for status, previews and what is really dropped. */
export function rootStates(context: HomeContext): readonly RootState[] {
  return context.catalog.workspaces().map((workspace) => ({ workspace, state: stateOf(workspace) }));
}

function stateOf(workspace: WorkspaceIdentity): RootState['state'] {
  try {
    return isSameRoot(workspace, identifyWorkspace(workspace.path)) ? 'present' : 'replaced';
  } catch (error) {
    if (isWaymarkError(error)) return 'missing';
    throw error;
  }
}
