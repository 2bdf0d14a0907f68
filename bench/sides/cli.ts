import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { mustRun } from '../../scripts/run-command.ts';

const root = join(import.meta.dirname, '..', '..');
const built = join(root, 'dist', 'cli', 'bin.js');

/** The program that the command-line rows start: the build, or the sources where there is none. */
export const CLI = existsSync(built) ? built : join(root, 'src', 'cli', 'bin.ts');

/** True where a source is newer than the build that is measured. */
export function buildIsStale(): boolean {
  if (CLI !== built) return false;
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const newest = Math.max(...sources.map((path) => statSync(join(root, 'src', path)).mtimeMs));
  return newest > statSync(built).mtimeMs;
}

/** Runs node with the given arguments to its end. @throws Error where its status is not 0 */
export function runNode(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): void {
  mustRun(process.execPath, args, { cwd, env });
}

/** Runs `waymark` in `cwd` on `home`. */
export function runCli(args: readonly string[], cwd: string, home: string, env: NodeJS.ProcessEnv): void {
  runNode([CLI, ...args], cwd, { ...env, WAYMARK_HOME: home });
}
