import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { WaymarkError } from '../domain/errors.ts';
import { quotePath, toFsPath } from '../domain/rel-path.ts';

/**
 * Finds the program that a command means, as `execvp` would from `cwd` (for a name without a slash, from the current directory), so that nothing is checkpointed for one that can't run.
 *
 * @throws WaymarkError `COMMAND_FAILED` with `details.errno`: `ENOENT` (no such program) or `EACCES` (not executable)
 */
export function findProgram(name: string, path: string | undefined, cwd = '.'): string {
  const places = name.includes('/')
    ? [name.startsWith('/') ? name : `${cwd}/${name}`]
    : (path ?? '/usr/bin:/bin').split(delimiter).map((directory) => join(directory || '.', name));
  const existing = name === '' ? [] : places.filter(isFile);
  const runnable = existing.find(isRunnable);
  if (runnable !== undefined) return runnable;
  const isDirectory =
    name.includes('/') && places.some((place) => statSync(toFsPath(place), { throwIfNoEntry: false }));
  const found = existing.length > 0 || isDirectory;
  throw new WaymarkError(
    'COMMAND_FAILED',
    `Cannot run ${quotePath(name) || '""'}: ${found ? 'not executable' : 'no such program'}`,
    { details: { errno: found ? 'EACCES' : 'ENOENT' } },
  );
}

function isFile(place: string): boolean {
  try {
    return statSync(toFsPath(place)).isFile();
  } catch {
    // Not there, or not to be looked at: execvp goes on to the next place, too.
    return false;
  }
}

function isRunnable(place: string): boolean {
  try {
    accessSync(toFsPath(place), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
