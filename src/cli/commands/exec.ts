import { WaymarkError } from '../../domain/errors.ts';
import type { CommandModule } from '../command.ts';
import { childEnvironment, runOptions } from '../exec-options.ts';
import { findProgram } from '../find-program.ts';
import type { Options } from '../options.ts';
import { childFailureStatus, runChild } from '../run-child.ts';
import { coverageLine, runSummary } from '../run-summary.ts';

/** `waymark exec [OPTIONS] -- CMD…` */
export const exec: CommandModule = {
  configure: (command) =>
    command
      .usage('[options] -- CMD [ARG…]')
      .argument('<command...>', 'the command and its arguments')
      .passThroughOptions()
      .option('--session <id>', 'the session (default: WAYMARK_SESSION, else a new one)')
      .option('--label <text>', 'a name for people')
      .option('--store <engine>', 'where the content goes: cas or git')
      .option('--every <seconds>', 'also checkpoint so often while something changes')
      .option('--require-checkpoint', 'run nothing unless the first checkpoint could be taken')
      .option('--worktree', 'run in a git worktree of its own, off HEAD; this checkout stays as it is')
      .option('--name <name>', 'with --worktree: its name (default: exec-<ulid>)')
      .option('--resume <run>', 'with --worktree: go on in this one')
      .option('--keep', 'with --worktree: keep it even if the command fails')
      .option('--with-changes', 'with --worktree: bring uncommitted changes and untracked files along')
      .option('-q, --quiet', 'say nothing about what changed'),
  examples: [
    ['waymark exec -- claude -p "fix the tests"', 'run an agent under protection'],
    ['waymark exec --every 60 -- ./long-job.sh', 'and checkpoint every minute when something changed'],
    ['waymark exec --session nightly --label lint -- npm run lint -- --fix', 'in a session of your own'],
    ['waymark undo', 'afterwards: take back what it did'],
    ['waymark exec --worktree --name fix -- my-agent', 'apart from your files; see waymark worktree --help'],
  ],
  onInterrupt: 'own',
  exitStatusOf: childFailureStatus,
  async run(context, { words, literal, options }) {
    const argv = [...words, ...literal];
    refuseStrayOptions(options);
    if (options.flag('worktree')) {
      const { execInWorktree } = await import('../exec-in-worktree.ts');
      return await execInWorktree(context, argv, options);
    }
    findProgram(argv[0] ?? '', context.environment['PATH']);
    const quiet = options.flag('quiet');
    const workspace = await context.workspace();
    const result = await workspace.run(runOptions(argv, options), async (run) => {
      if (!quiet) context.terminal.err(coverageLine(run, context.terminal.colorErr));
      const child = await runChild(argv, childEnvironment(context, run.env));
      if (child.interrupted) run.interrupted();
      return child.status;
    });
    if (!quiet) context.terminal.err(runSummary(result, context.format, context.terminal.colorErr));
    return { exitStatus: result.value };
  },
};

const WORKTREE_OPTIONS = ['name', 'resume', 'keep', 'withChanges'] as const;

/** @throws WaymarkError `USAGE` for an option that says something about a worktree where there is none */
function refuseStrayOptions(options: Options): void {
  if (options.flag('worktree')) return;
  const stray = WORKTREE_OPTIONS.find((name) => options.flag(name) || options.text(name) !== undefined);
  if (stray === undefined) return;
  const dashed = stray === 'withChanges' ? 'with-changes' : stray;
  throw new WaymarkError('USAGE', `--${dashed} is about a worktree`, { hint: 'Add --worktree' });
}
