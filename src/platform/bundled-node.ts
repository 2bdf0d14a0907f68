import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Marks a process that was started by {@link runUnderNode}, so that it is not started a second time. */
export const RESTARTED_AS = 'waymark-node';

/** The Node that a checkout brings in its `node_modules`, if it has one. */
export function bundledNode(packageRoot: string): string | undefined {
  const node = join(packageRoot, 'node_modules', 'node', 'bin', 'node');
  return existsSync(node) ? node : undefined;
}

/**
 * Runs a script under another Node: same streams, same process group, signals handed on.
 * Runs under old versions of Node, so it uses nothing new.
 *
 * @returns how it ended
 */
export function runUnderNode(
  node: string,
  argv: readonly string[],
): Promise<{ readonly exitCode: number | null; readonly signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    const child = spawn(node, argv, { stdio: 'inherit', argv0: RESTARTED_AS });
    const forwarded: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGCONT'];
    for (const name of forwarded) process.on(name, () => child.kill(name));
    // A terminal sends these to the whole group; what comes from elsewhere must be handed on.
    for (const name of ['SIGINT', 'SIGQUIT'] as const) {
      process.on(name, () => {
        if (!process.stdin.isTTY && !process.stderr.isTTY) child.kill(name);
      });
    }
    child.once('error', reject);
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
  });
}
