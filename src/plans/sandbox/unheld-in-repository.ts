import type { HomeContext } from '../../checkpoints/workspace/home-context.ts';
import { isWaymarkError } from '../../domain/errors.ts';
import { joinRel, type RelPath } from '../../domain/rel-path.ts';
import type { Git } from '../../platform/git-process.ts';
import { type GitDirectory, gitDirectoryAt } from '../../workspace/git-directory.ts';
import { readStatus } from '../../worktree/repository/checkout-status.ts';
import { linesOf } from '../../worktree/repository/git-output.ts';
import { neutralPlace } from '../../worktree/repository/neutral-settings.ts';
import type { HeldNowhere } from './held-nowhere.ts';

/** A repository in a sandbox. */
export interface SandboxRepository {
  /** the sandbox */
  readonly root: string;
  /** the repository's top level in it */
  readonly at: RelPath | '';
  /** directories whose repository at the same place may hold the same */
  readonly elsewhere: readonly string[];
  /** an existing directory for files of the moment */
  readonly scratch: string;
}

/** Finds commits of a repository that its counterparts have not, and contents that are only staged. One that git cannot read holds something. */
export async function unheldInRepository(
  { git, fs }: Pick<HomeContext, 'git' | 'fs'>,
  { root, at, elsewhere, scratch }: SandboxRepository,
): Promise<readonly HeldNowhere[]> {
  const repository = gitDirectoryAt(placeIn(root, at));
  if (repository === undefined) return [];
  const path = at === '' ? ('.' as RelPath) : at;
  const { gitDir, topLevel: workTree } = repository;
  const counterparts = elsewhere.flatMap((other) => gitDirectoryAt(placeIn(other, at)) ?? []);
  try {
    const missing = await missingFrom(git, counterparts, await tipsOf(git, repository));
    const place = { cwd: workTree, gitDir, workTree };
    const neutral = await neutralPlace(git, place);
    const { staged } = await readStatus(git, fs, { ...neutral, ...place }, scratch);
    return [
      ...(missing.length === 0 ? [] : [{ path, reason: 'commits' } as const]),
      ...staged.map((item) => ({ path: joinRel(at, item), reason: 'staged' }) as const),
    ];
  } catch (error) {
    if (!isWaymarkError(error, 'GIT_FAILED', 'GIT_NOT_FOUND', 'REPOSITORY_UNSUPPORTED')) throw error;
    return [{ path, reason: 'unreadable' }];
  }
}

function placeIn(root: string, at: RelPath | ''): string {
  return at === '' ? root : `${root}/${at}`;
}

/** What refs, a detached HEAD and the stash point at. */
async function tipsOf(git: Git, { gitDir }: GitDirectory): Promise<readonly string[]> {
  const ask = async (allowExitCodes: readonly number[], ...args: readonly string[]) =>
    linesOf((await git.run({ args, gitDir, allowExitCodes })).stdout);
  return [
    ...new Set([
      ...(await ask([], 'for-each-ref', '--format=%(objectname)')),
      ...(await ask([1, 128], 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}')),
      // Without a stash there is no such log.
      ...(await ask([128], 'rev-list', '--walk-reflogs', '--ignore-missing', 'refs/stash', '--')),
    ]),
  ];
}

async function missingFrom(
  git: Git,
  counterparts: readonly GitDirectory[],
  tips: readonly string[],
): Promise<readonly string[]> {
  let missing = tips;
  for (const { gitDir } of counterparts) {
    if (missing.length === 0) break;
    const { stdout } = await git.run({
      args: ['cat-file', '--batch-check'],
      gitDir,
      input: missing.map((tip) => `${tip}\n`).join(''),
      env: { GIT_NO_LAZY_FETCH: '1' },
    });
    missing = linesOf(stdout)
      .filter((line) => line.endsWith(' missing'))
      .map((line) => line.slice(0, -' missing'.length));
  }
  return missing;
}
