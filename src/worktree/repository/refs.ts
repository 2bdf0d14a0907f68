import type { Git } from '../../platform/git-process.ts';
import type { Repository } from './checkout.ts';

/** The commit a ref points at; undefined: no such ref. */
export async function refValue(git: Git, repository: Repository, ref: string): Promise<string | undefined> {
  const { stdout, exitCode } = await git.run({
    args: ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`],
    cwd: repository.topLevel,
    allowExitCodes: [1],
  });
  return exitCode === 0 ? stdout.toString('latin1').trim() : undefined;
}

/** Deletes a ref with its log, and nothing of the configuration, where it still points at `tip`. */
export async function deleteRef(git: Git, repository: Repository, ref: string, tip: string): Promise<void> {
  await git.run({ args: ['update-ref', '-d', ref, tip], cwd: repository.topLevel });
}
