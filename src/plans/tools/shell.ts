import type { ShellStep } from '../document/plan-document.ts';
import { runCommand } from './run-command.ts';
import { directoryInside } from './sandbox-place.ts';
import type { Tool } from './tool.ts';

/** Runs a command line, or a program with arguments, in the sandbox. */
export const shell: Tool<ShellStep> = {
  name: 'shell',
  writes: true,
  async run(step, context) {
    const { command } = step;
    const line = typeof command === 'string' ? command.trim() : command.join(' ');
    return runCommand(
      {
        command: typeof command === 'string' ? { shell: command } : { argv: command },
        name: line.split('\n')[0] ?? line,
        cwd: directoryInside(context.root, step.cwd),
        env: step.env,
        timeoutMs: step.timeoutMs,
      },
      context,
    );
  },
};
