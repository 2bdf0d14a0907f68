import type { CommandModule } from '../command.ts';
import { findProgram } from '../find-program.ts';
import { given } from '../options.ts';
import { childFailureStatus, runChild } from '../run-child.ts';

/** `waymark wave [OPTIONS] -- CMD…` */
export const wave: CommandModule = {
  configure: (command) =>
    command
      .usage('[options] -- CMD [ARG…]')
      .argument('<command...>', 'what starts the agents and waits for all of them')
      .passThroughOptions()
      .option('--label <text>', 'what is going on, for those who are refused meanwhile')
      .option('--wait <seconds>', 'how long to wait for another wave to end (default: refuse at once)'),
  examples: [
    ['waymark wave --label wave-3 -- ./three-agents.sh', 'no checkpoint or restore while they write'],
    [
      'waymark checkpoints create --reason pre-wave-3 && waymark wave -- ./three-agents.sh',
      'with a way back',
    ],
  ],
  onInterrupt: 'own',
  exitStatusOf: childFailureStatus,
  async run(context, { words, literal, options }) {
    const argv = [...words, ...literal];
    findProgram(argv[0] ?? '', context.environment['PATH']);
    const workspace = await context.workspace();
    const { status } = await workspace.wave(
      {
        label: options.text('label') ?? argv.join(' '),
        ...given('waitMs', options.seconds('wait')),
      },
      () => runChild(argv, context.environment),
    );
    return { exitStatus: status };
  },
};
