import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { isWaymarkError } from '../../domain/errors.ts';
import { decodeName, isBelow, joinRel, type RelPath } from '../../domain/rel-path.ts';
import type { Git } from '../../platform/git-process.ts';
import type { FileClock } from '../file-clock.ts';
import type { GitDirectory } from '../git-directory.ts';
import { look } from '../walk/look.ts';

/** What is remembered of a repository's index so that git need not be asked again. */
export interface IndexMemory {
  /** the repository's top level, or `''` for one that encloses the root */
  readonly dir: RelPath | '';
  /** the index's stat; `''` where it proves nothing yet */
  readonly stamp: string;
  /** SHA-256 of what git listed */
  readonly digest: string;
}

/** Tells whether git was asked and could not say. */
export function isUnlisted({ stamp, digest }: IndexMemory): boolean {
  return stamp === '' && digest === '';
}

/** What one repository's index lists. */
export interface TrackedList {
  readonly memory: IndexMemory;
  /** undefined: git was not asked because the stamp is the remembered one, or it failed */
  readonly listed:
    | { readonly files: readonly RelPath[]; readonly repositories: readonly RelPath[] }
    | undefined;
}

/** The present stamp of an index. */
export function stampOf(git: GitDirectory, clock: FileClock, startMs: number): string {
  const stat = look(`${git.gitDir}/index`);
  if (!stat) return 'none';
  if (!clock.isSettled(stat.mtimeNs, stat.ctimeNs, startMs)) return '';
  return [stat.size, stat.mtimeNs, stat.ctimeNs, stat.ino].join(' ');
}

/**
 * Asks git which files its index lists below a directory. A repository that git can't or won't read (corrupt, another owner's) gives
 * undefined: whoever looks must say so ({@link isUnlisted}). Only an interruption throws.
 */
export async function listTracked(
  git: Git,
  absolute: string,
  dir: RelPath | '',
  signal: AbortSignal | undefined,
): Promise<{ readonly digest: string; readonly listed: NonNullable<TrackedList['listed']> } | undefined> {
  try {
    const { stdout } = await git.run({
      args: ['ls-files', '-z', '--stage'],
      cwd: absolute,
      env: { GIT_OPTIONAL_LOCKS: '0' },
      ...(signal ? { signal } : {}),
    });
    const digest = createHash('sha256').update(stdout).digest('hex');
    return { digest, listed: parseStage(recordsOf(stdout), dir) };
  } catch (error) {
    if (isWaymarkError(error, 'INTERRUPTED')) throw error;
    return undefined;
  }
}

function recordsOf(output: Buffer): readonly string[] {
  if (isUtf8(output)) return output.toString('utf8').split('\0');
  // One name that is no UTF-8 must not make the decoding of all others slow.
  return output
    .toString('latin1')
    .split('\0')
    .map((record) => decodeName(Buffer.from(record, 'latin1')));
}

/** Reads `<mode> <object> <stage>\t<path>`; a path that is unmerged comes several times. */
function parseStage(records: readonly string[], dir: RelPath | ''): NonNullable<TrackedList['listed']> {
  const files = new Set<RelPath>();
  const repositories = new Set<RelPath>();
  for (const record of records) {
    const tab = record.indexOf('\t');
    if (tab < 0) continue;
    const path = joinRel(dir, record.slice(tab + 1));
    (record.startsWith(GITLINK) ? repositories : files).add(path);
  }
  return { files: [...files], repositories: [...repositories] };
}

const GITLINK = '160000 ';

/** The part of a sorted list of paths that lies below a directory. */
export function below(paths: readonly RelPath[], dir: RelPath | ''): readonly RelPath[] {
  return dir === '' ? paths : paths.filter((path) => isBelow(path, dir));
}
