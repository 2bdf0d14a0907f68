import { ancestorsOf, isBelow, joinRel, parentOf, type RelPath } from '../../domain/rel-path.ts';
import { walkTree } from '../create/walk-tree.ts';
import { holdsContent, isUnchanged, kindAt } from '../record/entry-state.ts';
import type { WorktreeContext } from '../record/worktree-context.ts';
import type { SeededSubmodule, WorktreeRecord } from '../record/worktree-record.ts';
import { readStatus } from '../repository/checkout-status.ts';
import { singleLine } from '../repository/git-output.ts';
import { neutralPlace } from '../repository/neutral-settings.ts';
import { refsDigest } from '../seed/seed-submodules.ts';

/** What lies in a worktree beyond the commits of its repository and what was brought into it. Paths are sorted. */
export interface WorktreeContents {
  /** tracked paths with uncommitted changes */
  readonly tracked: readonly RelPath[];
  /** the part of `tracked` that was deleted: nothing is lost with it */
  readonly deleted: readonly RelPath[];
  /** the part of `tracked` that is staged with a content that is nowhere else */
  readonly staged: readonly RelPath[];
  readonly untracked: readonly RelPath[];
  /** ignored files, each by itself */
  readonly ignored: readonly RelPath[];
  /** repositories in it with anything of their own */
  readonly nested: readonly RelPath[];
  /** bytes on disk, each file once however many links it has */
  readonly bytes: number;
}

/** What was recorded of a worktree; nothing, where the record is missing or damaged. */
export type Brought = Pick<WorktreeRecord, 'seeds' | 'submodules'>;

/** Looks through a worktree with filters off and without following links. Throws the file system's error for an unreadable directory. */
export async function readContents(
  { git, fs }: Pick<WorktreeContext, 'git' | 'fs'>,
  path: string,
  entry: string,
  scratchDirectory: string,
  brought: Brought,
): Promise<WorktreeContents> {
  const place = { cwd: path, gitDir: entry, workTree: path };
  const neutral = await neutralPlace(git, place);
  const status = await readStatus(git, fs, { ...neutral, ...place }, scratchDirectory);
  const tree = measure(path);
  const unchanged = new Set(brought.seeds.filter((seed) => isUnchanged(path, seed)).map((seed) => seed.path));
  const isOwn = (item: RelPath) => !unchanged.has(item);
  const repositories = new Set<RelPath>([...tree.repositories, ...status.nested]);
  const inRepository = (item: RelPath) => [...ancestorsOf(item), item].some((part) => repositories.has(part));
  const ignoredRoots = new Set(status.ignored);
  const ignored = tree.files.filter(
    (item) =>
      (ignoredRoots.has(item) || ancestorsOf(item).some((parent) => ignoredRoots.has(parent))) &&
      !inRepository(item) &&
      isOwn(item),
  );
  const tracked = status.changed.filter((item) => isOwn(item) && !repositories.has(item)).sort();
  return {
    tracked,
    deleted: tracked.filter((item) => !holdsContent(kindAt(path, item))),
    staged: status.staged.filter((item) => !repositories.has(item)).sort(),
    untracked: status.untracked.filter(isOwn).sort(),
    ignored,
    nested: await withOwnWork(
      { git, fs },
      path,
      scratchDirectory,
      [...repositories].sort(),
      brought.submodules,
      unchanged,
    ),
    bytes: tree.bytes,
  };
}

interface Measured {
  readonly files: readonly RelPath[];
  /** directories with a `.git` in them, without the root */
  readonly repositories: readonly RelPath[];
  readonly bytes: number;
}

function measure(root: string): Measured {
  const files: RelPath[] = [];
  const repositories: RelPath[] = [];
  const linked = new Set<bigint>();
  let bytes = 0n;
  for (const { path, stats } of walkTree(root)) {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (name === '.git') {
      const parent = parentOf(path);
      if (parent !== '') repositories.push(parent);
      else if (stats.isDirectory()) repositories.push('.git' as RelPath);
    }
    if (stats.isDirectory()) continue;
    if (!repositories.some((repository) => isBelow(path, joinRel(repository, '.git')))) files.push(path);
    if (stats.nlink > 1n && linked.has(stats.ino)) continue;
    if (stats.nlink > 1n) linked.add(stats.ino);
    bytes += stats.blocks * 512n;
  }
  return { files, repositories, bytes: Number(bytes) };
}

/** Leaves out submodules that are as they were brought. */
async function withOwnWork(
  context: Pick<WorktreeContext, 'git' | 'fs'>,
  root: string,
  scratchDirectory: string,
  repositories: readonly RelPath[],
  brought: readonly SeededSubmodule[],
  unchanged: ReadonlySet<RelPath>,
): Promise<readonly RelPath[]> {
  const own: RelPath[] = [];
  for (const path of repositories) {
    const submodule = brought.find((seeded) => seeded.path === path);
    const untouched = submodule && (await isUntouched(context, root, scratchDirectory, submodule, unchanged));
    if (!untouched) own.push(path);
  }
  return own;
}

async function isUntouched(
  { git, fs }: Pick<WorktreeContext, 'git' | 'fs'>,
  root: string,
  scratchDirectory: string,
  submodule: SeededSubmodule,
  unchanged: ReadonlySet<RelPath>,
): Promise<boolean> {
  const cwd = `${root}/${submodule.path}`;
  const ask = async (...args: string[]) => {
    const { stdout, exitCode } = await git.run({ args, cwd, allowExitCodes: [1, 128] });
    return exitCode === 0 ? singleLine(stdout) : undefined;
  };
  const gitDir = await ask('rev-parse', '--absolute-git-dir');
  if (gitDir === undefined || (await ask('rev-parse', '--show-toplevel')) !== cwd) return false;
  if ((await ask('rev-parse', 'HEAD')) !== submodule.commit) return false;
  if ((await refsDigest(git, gitDir)) !== submodule.refsDigest) return false;
  const place = { cwd, gitDir, workTree: cwd };
  const status = await readStatus(
    git,
    fs,
    { ...(await neutralPlace(git, place)), ...place },
    scratchDirectory,
  );
  const differing = [status.changed, status.untracked, status.ignored, status.nested].flat();
  return differing.every((path) => unchanged.has(joinRel(submodule.path, path)));
}
