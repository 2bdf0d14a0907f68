import { WaymarkError } from '../../domain/errors.ts';
import { isSameRoot } from '../../domain/workspace.ts';
import { identifyWorkspace } from '../../workspace/identity.ts';
import type { WorkspaceContext } from './home-context.ts';

/**
 * Refuses to go on where another directory took the workspace's place since it was opened. Call once the workspace is held.
 *
 * @throws WaymarkError `WORKSPACE_MISMATCH`, `WORKSPACE_NOT_FOUND`
 */
export function requireRoot({ identity }: WorkspaceContext): void {
  if (isSameRoot(identity, identifyWorkspace(identity.path))) return;
  throw new WaymarkError(
    'WORKSPACE_MISMATCH',
    `The directory ${identity.path} is not the one that was opened: it was replaced or mounted anew meanwhile`,
    { hint: 'Look at what is there, and start again' },
  );
}
