import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, posix, relative, resolve } from 'node:path';
import { WaymarkError } from '../domain/errors.ts';
import { quotePath, toFsPath, unquotePath } from '../domain/rel-path.ts';

/**
 * Turns paths as typed (relative to `cwd`, absolute, or C-quoted) into paths relative to the workspace.
 * Symlinks on the way are not followed: the path may have been a directory when a checkpoint was taken.
 *
 * @returns an empty list where one of them is the workspace itself: everything
 * @throws WaymarkError `UNSAFE_PATH` for a path outside
 */
export function workspacePaths(typed: readonly string[], cwd: string, root: string): readonly string[] {
  const paths = typed.map((path) => workspacePath(path, cwd, root));
  return paths.includes('') ? [] : paths;
}

/** One path relative to the workspace, `''` for the workspace itself. @throws WaymarkError `UNSAFE_PATH` */
export function workspacePath(typed: string, cwd: string, root: string): string {
  if (typed === '') throw new WaymarkError('USAGE', 'A path is empty');
  const absolute = resolve(cwd, unquoted(typed, cwd));
  const path = below(root, absolute) ?? below(root, withRealParent(absolute));
  if (path === undefined) {
    throw new WaymarkError('UNSAFE_PATH', `${quotePath(typed)} is outside the workspace ${quotePath(root)}`, {
      hint: 'Paths are relative to the current directory and stay below the workspace',
    });
  }
  return path;
}

/** Turns paths as typed into absolute ones, likewise. */
export function absolutePaths(typed: readonly string[], cwd: string): readonly string[] {
  return typed.map((path) => `/${workspacePath(path, cwd, '/')}`);
}

/** A quoted name is taken literally where such a file exists. */
function unquoted(typed: string, cwd: string): string {
  const quoted = typed.length >= 2 && typed.startsWith('"') && typed.endsWith('"');
  return quoted && !exists(resolve(cwd, typed)) ? unquotePath(typed) : typed;
}

function below(root: string, absolute: string): string | undefined {
  const path = relative(root, absolute);
  if (path === '..' || path.startsWith('../') || path.startsWith('/')) return undefined;
  return posix.normalize(path) === '.' ? '' : path;
}

/** The same path with the symlinks above its last component resolved, as far as they exist. */
function withRealParent(absolute: string): string {
  const parent = dirname(absolute);
  if (parent === absolute) return absolute;
  try {
    return join(realpathSync.native(parent), basename(absolute));
  } catch {
    // A parent that is gone (or never was) is looked for further up.
    return join(withRealParent(parent), basename(absolute));
  }
}

function exists(path: string): boolean {
  return lstatSync(toFsPath(path), { throwIfNoEntry: false }) !== undefined;
}
