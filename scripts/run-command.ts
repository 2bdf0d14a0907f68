import { spawnSync } from 'node:child_process';

export interface CommandOutput {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program without input and gives what it printed. @throws Error where it can't be started */
export function runCommand(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): CommandOutput {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    ...options,
    encoding: 'utf8',
    maxBuffer: 1024 ** 3,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (error) throw error;
  return { status, stdout, stderr };
}

/** The same for a program that must end with status 0. @throws Error with its output otherwise */
export function mustRun(...call: Parameters<typeof runCommand>): CommandOutput {
  const output = runCommand(...call);
  if (output.status !== 0) {
    const [program, args] = call;
    throw new Error(
      `${program} ${args.join(' ')} ended with ${output.status}\n${output.stdout}${output.stderr}`,
    );
  }
  return output;
}
