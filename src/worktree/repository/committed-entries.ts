import { createHash } from 'node:crypto';
import type { ContentHash } from '../../domain/ids.ts';
import { decodeName, type RelPath } from '../../domain/rel-path.ts';
import type { FileEntry, SymlinkEntry } from '../../domain/snapshot.ts';
import type { Git } from '../../platform/git-process.ts';
import { nulSeparated } from './git-output.ts';
import { neutralPlace } from './neutral-settings.ts';

/** A file or link as a commit has it: its place in git, and a reader of what a checkout makes of it. */
export interface CommittedEntry {
  readonly mode: '100644' | '100755' | '120000';
  readonly object: string;
}

/** A worktree, and the commit that it is compared with. */
export interface CommitPlace {
  readonly path: string;
  /** its directory below `worktrees/` in the git directory */
  readonly entry: string;
  readonly commit: string;
}

/** Lists the files and links of a commit. */
export async function committedEntries(
  git: Git,
  { path, commit }: CommitPlace,
): Promise<ReadonlyMap<RelPath, CommittedEntry>> {
  const args = ['ls-tree', '-r', '-z', '--full-tree', commit];
  const { stdout } = await git.run({ args, cwd: path });
  const entries = new Map<RelPath, CommittedEntry>();
  for (const line of nulSeparated(stdout)) {
    const tab = line.indexOf('\t');
    const [mode, , object] = line.slice(0, tab).split(' ');
    if ((mode === '100644' || mode === '100755' || mode === '120000') && object !== undefined) {
      entries.set(line.slice(tab + 1) as RelPath, { mode, object });
    }
  }
  return entries;
}

/** Lists tracked paths that differ between a commit and the worktree as it is, committed since or not. */
export async function changedSinceCommit(
  git: Git,
  { path, entry, commit }: CommitPlace,
): Promise<readonly RelPath[]> {
  const place = await neutralPlace(git, { cwd: path, gitDir: entry, workTree: path });
  const args = [
    'diff',
    '--name-only',
    '-z',
    '--no-renames',
    '--no-ext-diff',
    '--ignore-submodules=all',
    commit,
  ];
  const { stdout } = await git.run({ ...place, args });
  return nulSeparated(stdout) as RelPath[];
}

/** Reads a committed file as a checkout writes it (line ends converted, no filter run), or a link's target. */
export async function readCommitted(
  git: Git,
  { path, entry }: CommitPlace,
  name: RelPath,
  { mode, object }: CommittedEntry,
): Promise<Buffer> {
  const converts = mode !== '120000' && name.isWellFormed();
  const args = converts ? ['cat-file', '--filters', `--path=${name}`, object] : ['cat-file', 'blob', object];
  const place = await neutralPlace(git, { cwd: path, gitDir: entry, workTree: path });
  return (await git.run({ ...place, args })).stdout;
}

/** The entry that content from a commit makes; the bits beside `x` are unknown to git and taken from `like`. */
export function entryOf(
  { mode }: CommittedEntry,
  content: Buffer,
  like: number | undefined,
): FileEntry | SymlinkEntry {
  if (mode === '120000') return { kind: 'symlink', target: decodeName(content), mtimeNs: 0n };
  const hash = createHash('sha256').update(content).digest('hex') as ContentHash;
  return { kind: 'file', hash, size: content.length, mtimeNs: 0n, mode: bitsOf(mode, like) };
}

function bitsOf(mode: '100644' | '100755', like = 0o644): number {
  const executable = mode === '100755';
  if (executable === ((like & 0o100) !== 0)) return like;
  return executable ? like | ((like & 0o444) >> 2) : like & ~0o111;
}
