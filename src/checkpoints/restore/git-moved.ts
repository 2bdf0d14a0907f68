import type { Checkpoint } from '../../domain/checkpoint.ts';
import { readGitPosition } from '../../workspace/git-position.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';

/** Warns where git's HEAD or branch are not those of the checkpoint: files go back, git does not. */
export function gitMoved(context: WorkspaceContext, checkpoint: Checkpoint): readonly string[] {
  const now = readGitPosition(context.identity.path);
  const then = checkpoint.git;
  if (!now || !then) return [];
  if (now.branch !== then.branch) {
    return [
      `git is on ${now.branch ?? 'a detached HEAD'}; the checkpoint was taken on ${then.branch ?? 'a detached HEAD'}. Only files go back`,
    ];
  }
  if (now.head !== then.head) {
    return [
      `git HEAD is ${short(now.head)}; it was ${short(then.head)} at the checkpoint. Only files go back`,
    ];
  }
  return [];
}

function short(head: string | null): string {
  return head === null ? 'unborn' : head.slice(0, 8);
}
