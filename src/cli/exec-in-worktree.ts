import type { WorktreeEnding } from '../checkpoints/api/worktrees.ts';
import { withoutRepositoryVariables } from '../platform/repository-variables.ts';
import type { CommandContext } from './context.ts';
import { childEnvironment, runOptions } from './exec-options.ts';
import { findProgram } from './find-program.ts';
import { given, type Options } from './options.ts';
import type { Result } from './render/result.ts';
import { runChild } from './run-child.ts';
import { coverageLine } from './run-summary.ts';
import { stopOnSignals } from './stop-on-signals.ts';
import { endingText, worktreeSummary } from './worktree-summary.ts';

/** `waymark exec --worktree`: runs the command in a worktree of its own and says what became of it. */
export async function execInWorktree(
  context: CommandContext,
  argv: readonly string[],
  options: Options,
): Promise<Result> {
  const { terminal, format } = context;
  const [program = ''] = argv;
  // One that is named by a path is to be found in the worktree.
  if (!program.includes('/')) findProgram(program, context.environment['PATH']);
  const quiet = options.flag('quiet');
  const workspace = await context.workspace();
  using stop = stopOnSignals(process);
  let ended: WorktreeEnding | undefined;
  try {
    const result = await workspace.runInWorktree(
      {
        ...runOptions(argv, options),
        keep: options.flag('keep'),
        withChanges: options.flag('withChanges'),
        directory: workingDirectory(context.cwd, workspace.identity.path),
        signal: stop.signal,
        onEnding: (ending) => {
          ended = ending;
        },
        ...given('name', options.text('name')),
        ...given('resume', options.text('resume')),
      },
      async (run) => {
        const { path, workingDirectory: cwd, notices } = run.worktree;
        if (!quiet) {
          const warnings = [...run.warnings, ...notices.map(({ message }) => message)];
          terminal.err(coverageLine({ ...run, warnings }, terminal.colorErr));
          terminal.err(endingText(`running in ${path}`, terminal.colorErr));
        }
        findProgram(program, context.environment['PATH'], cwd);
        const env = withoutRepositoryVariables(childEnvironment(context, run.env));
        const child = await runChild(argv, { ...env, PWD: cwd }, cwd);
        if (child.interrupted) run.interrupted();
        else if (child.status !== 0) run.failed();
        return child.status;
      },
    );
    if (!quiet) terminal.err(worktreeSummary(result, format, terminal.colorErr));
    return { exitStatus: result.value };
  } catch (error) {
    if (ended !== undefined && !quiet)
      terminal.err(worktreeSummary({ ending: ended }, format, terminal.colorErr));
    throw error;
  }
}

/** The current directory, where it lies in the workspace. */
function workingDirectory(cwd: string, workspace: string): string {
  return cwd === workspace || cwd.startsWith(`${workspace}/`) ? cwd : workspace;
}
