import type { CommandModule } from '../command.ts';
import { consentTo } from '../consent.ts';
import { given } from '../options.ts';
import { progressLine } from '../progress-line.ts';
import { restoreOutcome } from '../restore-outcome.ts';
import { workspacePaths } from '../workspace-paths.ts';

/** `waymark redo [-- PATH…]` */
export const redo: CommandModule = {
  configure: (command) =>
    command
      .argument('[paths...]', 'only these paths')
      .option('--force', 'also paths that were changed since')
      .option('-n, --dry-run', 'show what would change, write nothing')
      .option('-y, --yes', 'agree to what would be shown')
      .option('--wait <seconds>', 'how long to wait for a run or wave to end (default: refuse at once)'),
  examples: [
    ['waymark redo', 'take the newest undo back'],
    ['waymark redo --dry-run', 'what that would change'],
  ],
  onInterrupt: 'abort',
  async run(context, { words, literal, options }) {
    const workspace = await context.workspace();
    using progress = progressLine(context.terminal, workspace);
    const consent = consentTo(context, options.flag('yes'), progress);
    const result = await workspace.redo({
      paths: workspacePaths([...words, ...literal], context.cwd, workspace.identity.path),
      force: options.flag('force'),
      dryRun: options.flag('dryRun'),
      signal: context.signal,
      ...given('waitMs', options.seconds('wait')),
      ...given('confirm', consent.confirm),
    });
    return restoreOutcome(result, consent.shown);
  },
};
