import { isBelow } from '../../domain/rel-path.ts';
import type { WorkspaceIdentity } from '../../domain/workspace.ts';
import type { WorkspaceContext } from './home-context.ts';

/** The workspace, and those in its `.waymark`: worktrees of its runs and sandboxes of its plans, gone ones too. */
export function ownWorkspaces({ catalog, identity }: WorkspaceContext): readonly WorkspaceIdentity[] {
  const inside = `${identity.path === '/' ? '' : identity.path}/.waymark`;
  return [identity, ...catalog.workspaces().filter(({ path }) => isBelow(path, inside))];
}
