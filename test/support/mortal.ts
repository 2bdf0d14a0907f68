import type { StepHook } from '../../src/platform/file-system.ts';
import type { Git } from '../../src/platform/git-process.ts';

/** Thrown at the moment of death and by everything that is tried afterwards. */
export class Died extends Error {}

const CHANGING: ReadonlySet<string> = new Set(['worktree', 'reset', 'update-ref', 'clone', 'update-index']);

/**
 * Stands for a process that is killed before its step number `at`: a step is a file system call or git command that changes something.
 * From then on every step fails, so that nothing the code does to clean up has any effect, as after SIGKILL.
 */
export function mortal(at: number): {
  readonly hook: StepHook;
  wrap(git: Git): Git;
  readonly died: () => boolean;
} {
  let step = 0;
  const live = (changes: boolean) => {
    if (changes) step += 1;
    if (step >= at) throw new Died(`killed at step ${at}`);
  };
  return {
    hook: (call) => live(call !== 'fsync' && call !== 'fsync-dir'),
    wrap: (git) => ({
      ...git,
      run: async (command) => {
        live(CHANGING.has(command.args[0] ?? '') && command.args[1] !== 'list');
        return git.run(command);
      },
    }),
    died: () => step >= at,
  };
}
