import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeName, type RelPath, toFsPath } from '../../domain/rel-path.ts';
import { temporaryName } from '../../platform/durable-write.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import type { Git } from '../../platform/git-process.ts';
import { nulSeparated } from './git-output.ts';
import type { NeutralPlace } from './neutral-settings.ts';

/** How a checkout differs from its HEAD and index, as git sees it with filters off. */
export interface CheckoutStatus {
  /** tracked paths with an uncommitted change, staged or not; submodules only where another commit is checked out */
  readonly changed: readonly RelPath[];
  readonly untracked: readonly RelPath[];
  /** the part of `changed` whose staged content is neither that of HEAD nor the one on disk */
  readonly staged: readonly RelPath[];
  /** untracked directories that are repositories of their own */
  readonly nested: readonly RelPath[];
  /** ignored files, and ignored directories as a whole */
  readonly ignored: readonly RelPath[];
}

/**
 * Reads the status of a checkout; its index stays as it is. Changes hidden by `--assume-unchanged` or `--skip-worktree` count:
 * for them an index without the marks is made for the moment, in `scratchDirectory`.
 *
 * @param place with `gitDir` and `workTree` given
 */
export async function readStatus(
  git: Git,
  fs: FileSystem,
  place: NeutralPlace & { readonly gitDir: string; readonly workTree: string },
  scratchDirectory: string,
): Promise<CheckoutStatus> {
  const marked = await markedPaths(git, place);
  if (marked.length === 0) return runStatus(git, place);
  const indexFile = temporaryName(join(scratchDirectory, 'index'));
  try {
    copyFile(fs, join(place.gitDir, 'index'), indexFile);
    const input = Buffer.concat(marked.flatMap((path) => [encodeName(path), Buffer.of(0)]));
    for (const flag of ['--no-assume-unchanged', '--no-skip-worktree']) {
      await git.run({ ...place, indexFile, input, args: ['update-index', flag, '-z', '--stdin'] });
    }
    return await runStatus(git, { ...place, indexFile });
  } finally {
    if (existsSync(indexFile)) fs.unlink(indexFile);
  }
}

async function runStatus(
  git: Git,
  place: NeutralPlace & { readonly indexFile?: string },
): Promise<CheckoutStatus> {
  const { stdout } = await git.run({
    ...place,
    args: [
      'status',
      '--porcelain=v2',
      '-z',
      '--untracked-files=all',
      '--ignored=matching',
      '--no-renames',
      '--ignore-submodules=dirty',
    ],
  });
  const changed: RelPath[] = [];
  const untracked: RelPath[] = [];
  const staged: RelPath[] = [];
  const nested: RelPath[] = [];
  const ignored: RelPath[] = [];
  for (const line of nulSeparated(stdout)) {
    const kind = line[0];
    if (kind === '1') {
      const path = afterFields(line, 8);
      changed.push(path);
      if (/^1 [AMT][MDT] /.test(line)) staged.push(path);
    }
    if (kind === 'u') changed.push(afterFields(line, 10));
    else if (kind === '!') ignored.push(withoutSlash(line.slice(2)));
    else if (kind === '?' && line.endsWith('/')) nested.push(withoutSlash(line.slice(2)));
    else if (kind === '?') untracked.push(line.slice(2) as RelPath);
  }
  return { changed, untracked, staged, nested, ignored };
}

function afterFields(line: string, count: number): RelPath {
  let at = 0;
  for (let field = 0; field < count; field += 1) at = line.indexOf(' ', at) + 1;
  return line.slice(at) as RelPath;
}

function withoutSlash(path: string): RelPath {
  return path.replace(/\/$/, '') as RelPath;
}

/** Paths that are there although the index tells git not to look. */
async function markedPaths(
  git: Git,
  place: NeutralPlace & { readonly workTree: string },
): Promise<readonly RelPath[]> {
  const { stdout } = await git.run({ ...place, args: ['ls-files', '-v', '-z'] });
  return nulSeparated(stdout)
    .filter((line) => line[0] !== 'H' && /^[a-zS] /.test(line))
    .map((line) => line.slice(2) as RelPath)
    .filter((path) => existsAsIs(place.workTree, path));
}

function existsAsIs(root: string, path: RelPath): boolean {
  return lstatSync(toFsPath(`${root}/${path}`), { throwIfNoEntry: false }) !== undefined;
}

function copyFile(fs: FileSystem, from: string, to: string): void {
  const fd = fs.openWrite(to, { exclusive: true, mode: 0o600 });
  try {
    fs.write(fd, readFileSync(from));
  } finally {
    fs.close(fd);
  }
}
