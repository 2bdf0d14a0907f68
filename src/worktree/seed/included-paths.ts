import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { encodeName, isBelow, type RelPath } from '../../domain/rel-path.ts';
import type { Git } from '../../platform/git-process.ts';
import type { Notice } from '../record/notice.ts';
import { nulSeparated } from '../repository/git-output.ts';

export const INCLUDE_FILE = '.worktreeinclude';

/** Paths to bring into a worktree, and what was left out of them. */
export interface PathsToBring {
  readonly paths: readonly RelPath[];
  readonly notices: readonly Notice[];
}

/**
 * The ignored, untracked files of a checkout that its `.worktreeinclude` names, in git's own reading of the patterns.
 * Nothing below `.waymark`, and no repository nested in the checkout.
 */
export async function includedPaths(git: Git, checkout: string): Promise<PathsToBring> {
  const file = join(checkout, INCLUDE_FILE);
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return { paths: [], notices: [] };
  if (!stats.isFile()) {
    const message = `${INCLUDE_FILE} is not a regular file and was not read`;
    return { paths: [], notices: [{ kind: 'seed_skipped', message, paths: [INCLUDE_FILE] }] };
  }
  const named = await git.run({
    args: ['ls-files', '-z', '--others', '--ignored', `--exclude-from=${file}`],
    cwd: checkout,
  });
  const candidates = nulSeparated(named.stdout).filter(
    (path) => path !== '.waymark/' && !isBelow(path, '.waymark') && !path.startsWith('../'),
  );
  const nested = candidates.filter((path) => path.endsWith('/'));
  const files = candidates.filter((path) => !path.endsWith('/'));
  return { paths: await ignoredAmong(git, checkout, files), notices: nestedNotice(nested) };
}

export function nestedNotice(nested: readonly string[]): readonly Notice[] {
  if (nested.length === 0) return [];
  return [{ kind: 'seed_skipped', message: 'Nested repositories were not copied', paths: nested }];
}

async function ignoredAmong(
  git: Git,
  checkout: string,
  files: readonly string[],
): Promise<readonly RelPath[]> {
  if (files.length === 0) return [];
  const input = Buffer.concat(files.flatMap((path) => [encodeName(path), Buffer.of(0)]));
  const { stdout } = await git.run({
    args: ['check-ignore', '-z', '--stdin'],
    cwd: checkout,
    input,
    allowExitCodes: [1],
  });
  return nulSeparated(stdout) as RelPath[];
}
