import type { Checkpoint } from '../../domain/checkpoint.ts';
import { WaymarkError } from '../../domain/errors.ts';
import { isSameRoot } from '../../domain/workspace.ts';
import type { WorkspaceContext } from './home-context.ts';

/**
 * Refuses a checkpoint of another workspace, and of one whose root directory is no longer the recorded one unless `force`.
 *
 * @throws WaymarkError `WORKSPACE_MISMATCH`
 */
export function requireOwn(context: WorkspaceContext, checkpoint: Checkpoint, force: boolean): void {
  const { identity } = context;
  if (checkpoint.workspace.dirHash !== identity.dirHash) {
    throw new WaymarkError(
      'WORKSPACE_MISMATCH',
      `Checkpoint ${checkpoint.id} belongs to ${checkpoint.workspace.path}, not to ${identity.path}`,
      { hint: 'Go there, or write it elsewhere with --into DIR' },
    );
  }
  if (!force && !isSameRoot(checkpoint.workspace, identity)) {
    throw new WaymarkError(
      'WORKSPACE_MISMATCH',
      `The directory ${identity.path} is not the one checkpoint ${checkpoint.id} was taken of (it was replaced or mounted anew)`,
      { hint: 'If it is the same project, use --force; else write the checkpoint elsewhere with --into DIR' },
    );
  }
}
