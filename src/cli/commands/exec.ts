import type { CommandModule } from '../command.ts';
import { findProgram } from '../find-program.ts';
import { given } from '../options.ts';
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
      .option('-q, --quiet', 'say nothing about what changed'),
  examples: [
    ['waymark exec -- claude -p "fix the tests"', 'run an agent under protection'],
    ['waymark exec --every 60 -- ./long-job.sh', 'and checkpoint every minute when something changed'],
    ['waymark exec --session nightly --label lint -- npm run lint -- --fix', 'in a session of your own'],
    ['waymark undo', 'afterwards: take back what it did'],
  ],
  onInterrupt: 'own',
  exitStatusOf: childFailureStatus,
  async run(context, { words, literal, options }) {
    const argv = [...words, ...literal];
    findProgram(argv[0] ?? '', context.environment['PATH']);
    const quiet = options.flag('quiet');
    // A relative one would mean another place once the command has changed its directory.
    const home = context.environment['WAYMARK_HOME'] ? { WAYMARK_HOME: context.locations.home } : {};
    const workspace = await context.workspace();
    const result = await workspace.run(
      {
        source: 'exec',
        description: argv.join(' '),
        requireCheckpoint: options.flag('requireCheckpoint'),
        ...given('session', options.text('session')),
        ...given('label', options.text('label')),
        ...given('engine', options.choice('store', ['cas', 'git'])),
        ...given('everyMs', options.seconds('every')),
      },
      async (run) => {
        if (!quiet) context.terminal.err(coverageLine(run, context.terminal.colorErr));
        const child = await runChild(argv, { ...context.environment, ...run.env, ...home });
        if (child.interrupted) run.interrupted();
        return child.status;
      },
    );
    if (!quiet) context.terminal.err(runSummary(result, context.format, context.terminal.colorErr));
    return { exitStatus: result.value };
  },
};
