import { countText } from '../../domain/count-text.ts';
import type { Git } from '../../platform/git-process.ts';
import type { Notice } from '../record/notice.ts';
import { nulSeparated } from '../repository/git-output.ts';
import { neutralPlace } from '../repository/neutral-settings.ts';

/**
 * Checks out HEAD in a worktree that was added without files. No configured filter runs: files that one would convert
 * (Git LFS, encryption) appear as they are stored, and a notice names them.
 */
export async function materialise(git: Git, path: string, entry: string): Promise<readonly Notice[]> {
  const place = await neutralPlace(git, { cwd: path, gitDir: entry, workTree: path });
  await git.run({ ...place, args: ['reset', '--hard', '--quiet', '--no-recurse-submodules', 'HEAD'] });
  if (place.filters.length === 0) return [];
  const { stdout: files } = await git.run({ ...place, args: ['ls-files', '-z'] });
  const { stdout } = await git.run({
    ...place,
    args: ['check-attr', '-z', '--stdin', 'filter'],
    input: files,
  });
  const attributes = nulSeparated(stdout);
  const byDriver = new Map<string, string[]>();
  for (let at = 0; at + 2 < attributes.length; at += 3) {
    const [file, , driver] = attributes.slice(at, at + 3);
    if (file === undefined || driver === undefined || !place.filters.includes(driver)) continue;
    byDriver.set(driver, [...(byDriver.get(driver) ?? []), file]);
  }
  return [...byDriver].map(([driver, paths]) => ({
    kind: 'filter_disabled',
    message: `The filter "${driver}" was not run: ${countText(paths.length, 'file holds', 'files hold')} what git stores for them`,
    paths,
  }));
}
