import type { GitPosition } from '../domain/checkpoint.ts';
import { findGitDirectory, type GitDirectory, readSmallFile } from './git-directory.ts';
import { readRef } from './git-refs.ts';

/**
 * HEAD and branch of the repository that encloses a directory, read from its files without running git; null outside of any repository
 * and where refs are kept in a form this does not read (reftable). `head` is null on an unborn branch, `branch` when detached.
 */
export function readGitPosition(directory: string): GitPosition | null {
  const git = findGitDirectory(directory);
  return git ? positionOf(git) : null;
}

function positionOf(git: GitDirectory): GitPosition | null {
  const head = readSmallFile(`${git.gitDir}/HEAD`)?.trimEnd();
  if (head === undefined) return null;
  if (!head.startsWith('ref: ')) return { head: isObjectName(head) ? head : null, branch: null };
  const ref = head.slice('ref: '.length).trim();
  if (ref === 'refs/heads/.invalid') return null;
  const branch = ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : ref;
  return { head: readRef(git, ref) ?? null, branch };
}

function isObjectName(text: string): boolean {
  return /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(text);
}
