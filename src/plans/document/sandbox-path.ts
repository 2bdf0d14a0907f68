import { WaymarkError } from '../../domain/errors.ts';
import { quotePath, type RelPath } from '../../domain/rel-path.ts';

/** Names that git takes for `.git` on some file system: any letter case, with characters that HFS+ ignores, `git~1`. */
const IGNORABLE = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

function isGitName(name: string): boolean {
  const folded = name.replace(IGNORABLE, '').toLowerCase();
  return folded === '.git' || folded === 'git~1';
}

/** Checks a path that a plan names. @throws WaymarkError `UNSAFE_PATH` for absolute ones, `..`, empty components, NUL and anything in `.git` */
export function checkSandboxPath(path: string): RelPath {
  const trimmed = path.startsWith('./') ? path.slice(2) : path;
  const parts = trimmed.split('/');
  if (trimmed.includes('\0') || parts.some((part) => part === '' || part === '.' || part === '..')) {
    throw new WaymarkError('UNSAFE_PATH', `"${quotePath(path)}" is not a path inside the sandbox`);
  }
  if (parts.some(isGitName)) {
    throw new WaymarkError('UNSAFE_PATH', `"${quotePath(path)}" lies in a git directory`, {
      hint: 'The repository belongs to the user; a plan does not write there',
    });
  }
  if (parts[0]?.toLowerCase() === '.waymark') {
    throw new WaymarkError(
      'UNSAFE_PATH',
      `"${quotePath(path)}" lies in .waymark, which no checkpoint covers`,
    );
  }
  return trimmed as RelPath;
}

/** The same of a directory, which may end in slashes; undefined: `.`, the sandbox itself. @throws WaymarkError `UNSAFE_PATH` */
export function checkSandboxDirectory(path: string): RelPath | undefined {
  return path === '.' ? undefined : checkSandboxPath(path.replace(/\/+$/, ''));
}
