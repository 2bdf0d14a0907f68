import { WaymarkError } from '../../domain/errors.ts';
import type { CommandModule } from '../command.ts';
import { progressLine } from '../progress-line.ts';
import { restoreOutcome } from '../restore-outcome.ts';

/** `waymark recover --continue | --abort` */
export const recover: CommandModule = {
  configure: (command) =>
    command
      .option('--continue', 'bring the workspace to where the restore was going')
      .option('--abort', 'bring it back to where the restore began'),
  examples: [
    ['waymark recover --continue', 'finish a restore that was interrupted'],
    ['waymark recover --abort', 'take it back instead'],
  ],
  async run(context, { options }) {
    const forward = options.flag('continue');
    if (forward === options.flag('abort')) {
      throw new WaymarkError('USAGE', 'recover needs --continue or --abort', {
        hint: '--continue finishes the interrupted restore, --abort takes it back',
      });
    }
    const workspace = await context.workspace();
    using _progress = progressLine(context.terminal, workspace);
    return restoreOutcome(await workspace.recover(forward ? 'continue' : 'abort'));
  },
};
