import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { encodeName, toFsPath } from '../../domain/rel-path.ts';
import { type CopyCandidate, copyTree } from '../../platform/copy-tree.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import { type GitDirectory, readSmallFile } from '../../workspace/git-directory.ts';

/**
 * Gives a copied tree a repository of its own where the tree it was copied from has its repository elsewhere (a linked worktree, a submodule): the
 * same HEAD, index, refs and configuration, objects borrowed through `objects/info/alternates`. Whatever git does in the copy stays there.
 *
 * @returns whether it was done; refs that are no files (reftable) can't be copied so
 */
export function giveOwnRepository(fs: FileSystem, source: GitDirectory, copy: string): boolean {
  const [gitDir, commonDir] = [realPath(source.gitDir), realPath(source.commonDir)];
  const config = readSmallFile(`${commonDir}/config`) ?? '';
  if (/refstorage/i.test(config) || commonDir.includes('\n')) return false;
  const at = join(copy, '.git');
  fs.mkdir(at, 0o700);
  copyTree(fs, gitDir, at, isOwn);
  copyTree(fs, commonDir, at, isShared);
  for (const name of ['objects', 'objects/info']) fs.mkdir(join(at, name), 0o755);
  write(fs, join(at, 'objects/info/alternates'), `${quoted(`${commonDir}/objects`)}\n`);
  write(fs, join(at, 'config'), `${config}\n[core]\n\tbare = false\n\tworktree = ..\n`);
  return true;
}

/** What each worktree has of its own. */
function isOwn({ path, kind }: CopyCandidate): boolean {
  return kind === 'file' && /^(HEAD|index|sharedindex\.[0-9a-f]+)$/.test(path);
}

function isShared({ path, kind }: CopyCandidate): boolean {
  return kind !== 'symlink' && /^(packed-refs$|shallow$|info($|\/)|refs($|\/))/.test(path);
}

/** As git reads a line of `alternates`. */
function quoted(path: string): string {
  return path.startsWith('"') ? `"${path.replaceAll(/["\\]/g, '\\$&')}"` : path;
}

function write(fs: FileSystem, path: string, text: string): void {
  const fd = fs.openWrite(toFsPath(path), { exclusive: true, mode: 0o644 });
  try {
    fs.write(fd, encodeName(text));
  } finally {
    fs.close(fd);
  }
}

function realPath(path: string): string {
  return realpathSync(toFsPath(path), 'utf8');
}
