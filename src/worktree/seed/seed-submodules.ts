import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ancestorsOf, encodeName, joinRel, type RelPath, toFsPath } from '../../domain/rel-path.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import type { Git } from '../../platform/git-process.ts';
import { materialise } from '../create/materialise.ts';
import type { Notice } from '../record/notice.ts';
import type { PresentWorktree } from '../record/present-worktree.ts';
import type { WorktreeContext } from '../record/worktree-context.ts';
import type { SeededSubmodule } from '../record/worktree-record.ts';
import type { Repository } from '../repository/checkout.ts';
import { nulSeparated, singleLine } from '../repository/git-output.ts';

interface SubmoduleSeeding {
  readonly seeded: readonly SeededSubmodule[];
  readonly notices: readonly Notice[];
}

/** A checkout whose submodules are wanted, and where their repositories may lie already. */
interface Place {
  readonly path: string;
  readonly gitDirectory: string;
  /** git directories with a `modules/` to clone from */
  readonly sources: readonly string[];
  readonly prefix: RelPath | '';
}

/**
 * Checks out the submodules of a worktree, and theirs, from the repositories that the main checkout has of them: clones below the
 * worktree's own entry, without the network, hooks, templates or filters. A notice names those whose commit is not there.
 */
export async function seedSubmodules(
  { git, fs }: WorktreeContext,
  repository: Repository,
  worktree: PresentWorktree,
): Promise<SubmoduleSeeding> {
  const seeded: SeededSubmodule[] = [];
  const notices: Notice[] = [];
  const missing: RelPath[] = [];
  const sources = [...new Set([repository.originGitDirectory, repository.commonDirectory])];
  const places: Place[] = [{ path: worktree.path, gitDirectory: worktree.entry, sources, prefix: '' }];
  for (let place = places.pop(); place !== undefined; place = places.pop()) {
    for (const link of await gitLinks(git, place)) {
      const path = joinRel(place.prefix, link.path);
      const source = await findSource(git, place, link);
      if (source === undefined || link.name === undefined || !isEmptyDirectory(place.path, link.path)) {
        missing.push(path);
        continue;
      }
      const target = {
        path: join(place.path, link.path),
        gitDirectory: join(place.gitDirectory, 'modules', link.name),
      };
      makeDirectories(fs, place.gitDirectory, dirname(`modules/${link.name}`));
      await cloneFrom(git, source, target.path, target.gitDirectory, link.commit);
      notices.push(...(await materialise(git, target.path, target.gitDirectory)));
      seeded.push({ path, commit: link.commit, refsDigest: await refsDigest(git, target.gitDirectory) });
      places.push({ ...target, sources: [source], prefix: path });
    }
  }
  if (missing.length > 0) {
    const message =
      'Submodules whose commit is not in this repository were left empty: git submodule update --init';
    notices.push({ kind: 'submodule_not_initialised', message, paths: missing });
  }
  return { seeded, notices };
}

function makeDirectories(fs: FileSystem, root: string, path: string): void {
  for (const directory of [...ancestorsOf(path as RelPath), path]) {
    const full = join(root, directory);
    if (!existsSync(full)) fs.mkdir(full, 0o755);
  }
}

/** SHA-256 over all refs of a repository: equal, nothing was committed to any. */
export async function refsDigest(git: Git, gitDirectory: string): Promise<string> {
  const args = ['for-each-ref', '--format=%(refname) %(objectname) %(symref)'];
  const { stdout } = await git.run({ args, gitDir: gitDirectory });
  return createHash('sha256').update(stdout).digest('hex');
}

interface GitLink {
  readonly path: RelPath;
  readonly commit: string;
  /** as `.gitmodules` names it; undefined where it does not, or by a name that is no path */
  readonly name: string | undefined;
}

async function gitLinks(git: Git, place: Place): Promise<readonly GitLink[]> {
  const at = { cwd: place.path, gitDir: place.gitDirectory, workTree: place.path };
  const { stdout } = await git.run({ ...at, args: ['ls-files', '--stage', '-z'] });
  const links = nulSeparated(stdout).flatMap((line) => {
    const match = /^160000 ([0-9a-f]+) 0\t(.+)$/s.exec(line);
    return match?.[1] && match[2]?.isWellFormed() ? [{ commit: match[1], path: match[2] as RelPath }] : [];
  });
  if (links.length === 0) return [];
  const { stdout: modules } = await git.run({
    ...at,
    args: ['config', '--blob', 'HEAD:.gitmodules', '-z', '--get-regexp', '^submodule\\..*\\.path$'],
    allowExitCodes: [1, 128],
  });
  const names = new Map<string, string>();
  for (const line of nulSeparated(modules)) {
    const match = /^submodule\.(.+)\.path\n(.*)$/s.exec(line);
    if (match?.[1] !== undefined && match[2] !== undefined && isSafeName(match[1]))
      names.set(match[2], match[1]);
  }
  return links.map((link) => ({ ...link, name: names.get(link.path) }));
}

function isSafeName(name: string): boolean {
  return name.isWellFormed() && name.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

/** A repository of the submodule that has the commit, in a real directory where git keeps it. */
async function findSource(git: Git, place: Place, { name, commit }: GitLink): Promise<string | undefined> {
  if (name === undefined) return undefined;
  for (const base of place.sources) {
    const path = `modules/${name}` as RelPath;
    const real = [...ancestorsOf(path), path].every((part) =>
      lstatSync(toFsPath(`${base}/${part}`), { throwIfNoEntry: false })?.isDirectory(),
    );
    if (!real) continue;
    const gitDir = join(base, path);
    const args = ['cat-file', '-e', `${commit}^{commit}`];
    const { exitCode } = await git.run({ args, gitDir, allowExitCodes: [1, 128] });
    if (exitCode === 0) return gitDir;
  }
  return undefined;
}

function isEmptyDirectory(root: string, path: RelPath): boolean {
  const parents = [...ancestorsOf(path), path];
  const real = parents.every((part) =>
    lstatSync(encodeName(`${root}/${part}`), { throwIfNoEntry: false })?.isDirectory(),
  );
  return real && readdirSync(encodeName(`${root}/${path}`)).length === 0;
}

/** Objects are hard-linked; the remote stays the one that the source has, not the source. */
async function cloneFrom(
  git: Git,
  source: string,
  path: string,
  gitDirectory: string,
  commit: string,
): Promise<void> {
  const clone = [
    'clone',
    '--quiet',
    '--local',
    '--no-checkout',
    '--template=',
    `--separate-git-dir=${gitDirectory}`,
  ];
  await git.run({
    args: [...clone, '--', source, path],
    env: { GIT_ALLOW_PROTOCOL: 'file' },
  });
  const { stdout, exitCode } = await git.run({
    args: ['config', '--get', 'remote.origin.url'],
    gitDir: source,
    allowExitCodes: [1],
  });
  const settings = exitCode === 0 ? [['remote.origin.url', singleLine(stdout)]] : [];
  for (const setting of settings) await git.run({ args: ['config', ...setting], gitDir: gitDirectory });
  await git.run({ args: ['update-ref', '--no-deref', 'HEAD', commit], gitDir: gitDirectory });
}
