import { WaymarkError } from '../../domain/errors.ts';
import type { CommandModule } from '../command.ts';
import { consentTo } from '../consent.ts';
import { given } from '../options.ts';
import { progressLine } from '../progress-line.ts';
import { restoreOutcome } from '../restore-outcome.ts';
import { workspacePaths } from '../workspace-paths.ts';

/** `waymark undo [OPERATION] [-- PATH…]` */
export const undo: CommandModule = {
  configure: (command) =>
    command
      .argument('[operation]', 'an operation (default: the newest run, restore or apply not undone yet)')
      .argument('[paths...]', 'only these paths')
      .option('--session <id>', 'take back everything a session did')
      .option('--force', 'also paths that were changed since')
      .option('-n, --dry-run', 'show what would change, write nothing')
      .option('-y, --yes', 'agree to what would be shown')
      .option('--wait <seconds>', 'how long to wait for a run or wave to end (default: refuse at once)'),
  examples: [
    ['waymark undo', 'take back the newest operation; shows it and asks'],
    ['waymark undo --yes -- src/app.ts', 'only what it did to one file'],
    ['waymark undo --session nightly --dry-run', 'what taking back a whole session would change'],
    ['waymark redo', 'take the undo back'],
  ],
  onInterrupt: 'abort',
  async run(context, { words, literal, options }) {
    const workspace = await context.workspace();
    const [operation, ...rest] = words;
    const session = options.text('session');
    if (session !== undefined && operation !== undefined) {
      throw new WaymarkError('USAGE', 'undo takes an operation or --session, not both');
    }
    using progress = progressLine(context.terminal, workspace);
    const consent = consentTo(context, options.flag('yes'), progress);
    const result = await workspace.undo({
      paths: workspacePaths([...rest, ...literal], context.cwd, workspace.identity.path),
      force: options.flag('force'),
      dryRun: options.flag('dryRun'),
      signal: context.signal,
      ...given('operation', operation),
      ...given('session', session),
      ...given('waitMs', options.seconds('wait')),
      ...given('confirm', consent.confirm),
    });
    return restoreOutcome(result, consent.shown);
  },
};
