import { constants } from 'node:os';
import type { RunContext } from '../../checkpoints/api.ts';
import { isWaymarkError } from '../../domain/errors.ts';
import { spawnCommand } from '../../platform/spawn-command.ts';
import type { CommandModule } from '../command.ts';
import { EXIT } from '../exit-status.ts';
import { findProgram } from '../find-program.ts';
import { given } from '../options.ts';
import { coverageLine, runSummary } from '../run-summary.ts';
import { relaySignals, type SignalRelay } from '../signal-relay.ts';

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
  exitStatusOf,
  async run(context, { words, literal, options }) {
    const argv = [...words, ...literal];
    findProgram(argv[0] ?? '', process.cwd(), context.environment['PATH']);
    const quiet = options.flag('quiet');
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
        return await runChild(argv, run, context.environment);
      },
    );
    if (!quiet) context.terminal.err(runSummary(result, context.format, context.terminal.colorErr));
    return { exitStatus: result.value };
  },
};

/** Runs the command in our process group and gives its status; 128 + n where signal n ended it. */
async function runChild(
  argv: readonly string[],
  run: RunContext,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  let relay: SignalRelay | undefined;
  const { exitCode, signal } = await spawnCommand({
    command: { argv },
    cwd: process.cwd(),
    env: { ...environment, ...run.env },
    stdio: 'inherit',
    onStart: (child) => {
      relay = relaySignals(process, child);
    },
  });
  const status = exitCode ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  if (signal !== null || status === 130 || status === 143 || relay?.signalled) run.interrupted();
  return status;
}

function exitStatusOf(error: unknown): number {
  if (!isWaymarkError(error, 'COMMAND_FAILED')) return EXIT.execFailed;
  return error.details?.['errno'] === 'ENOENT' ? EXIT.execNotFound : EXIT.execCannotRun;
}
