import { isBelow } from '../../domain/rel-path.ts';
import type { WorkspaceIdentity } from '../../domain/workspace.ts';
import type { WorkspaceContext } from './home-context.ts';

/** The workspace, and those in its `.waymark`: worktrees of its runs and sandboxes of its plans, gone ones too. */
export function ownWorkspaces({ catalog, identity }: WorkspaceContext): readonly WorkspaceIdentity[] {
  const own = ownPlace(identity);
  return [identity, ...catalog.workspaces().filter(({ path }) => isBelow(path, own))];
}

/** The known workspaces that lie in one, but for those in its `.waymark`, which is no part of it. */
export function innerWorkspaces({ catalog, identity }: WorkspaceContext): readonly WorkspaceIdentity[] {
  const own = ownPlace(identity);
  const root = identity.path === '/' ? '' : identity.path;
  const others = catalog.workspaces().filter(({ path }) => path !== identity.path);
  return others.filter(({ path }) => isBelow(path, root) && !isBelow(path, own));
}

function ownPlace({ path }: WorkspaceIdentity): string {
  return `${path === '/' ? '' : path}/.waymark`;
}
