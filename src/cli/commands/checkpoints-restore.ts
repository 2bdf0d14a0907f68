import { resolve } from 'node:path';
import { takeName } from '../checkpoint-names.ts';
import type { CommandModule } from '../command.ts';
import { consentTo } from '../consent.ts';
import { directoryName } from '../directory-name.ts';
import { given } from '../options.ts';
import { progressLine } from '../progress-line.ts';
import { restoreOutcome } from '../restore-outcome.ts';
import { workspacePaths } from '../workspace-paths.ts';

/** `waymark checkpoints restore NAME [PATH…]` */
export const checkpointsRestore: CommandModule = {
  configure: (command) =>
    command
      .argument(
        '<checkpoint-and-paths...>',
        'an id, @, a commit or SESSION SEQ; then files, directories, globs',
      )
      .option('-y, --yes', 'agree to what would be shown')
      .option('-n, --dry-run', 'show what would change, write nothing')
      .option('--into <dir>', 'write into this missing or empty directory instead', directoryName)
      .option('--verify <command>', 'run this after a full restore (default: [restore] verify)')
      .option('--preserve-mtime', 'give rewritten files the times they had')
      .option('--force', 'go on although the workspace directory is another one than recorded')
      .option('--session <id>', 'the session that the safety checkpoint belongs to')
      .option('--wait <seconds>', 'how long to wait for a run or wave to end (default: refuse at once)'),
  examples: [
    ['waymark checkpoints restore @', 'the whole workspace, as it was in the newest checkpoint'],
    ['waymark checkpoints restore nightly 3 --yes', 'the fourth of session nightly, without asking'],
    ["waymark checkpoints restore @~2 src 'test/*.ts'", 'only these paths'],
    ['waymark checkpoints restore @ --dry-run', 'what would change'],
    ['waymark checkpoints restore @ --into /tmp/old', 'into another directory'],
  ],
  onInterrupt: 'abort',
  async run(context, { words, literal, options }) {
    const workspace = await context.workspace();
    const { name, rest } = await takeName(words, context.isSession);
    const into = options.text('into');
    using progress = progressLine(context.terminal, workspace);
    const consent = consentTo(context, options.flag('yes'), progress);
    const result = await workspace.restore({
      checkpoint: name,
      paths: workspacePaths([...rest, ...literal], context.cwd, workspace.identity.path),
      dryRun: options.flag('dryRun'),
      preserveMtime: options.flag('preserveMtime'),
      force: options.flag('force'),
      signal: context.signal,
      ...given('into', into === undefined ? undefined : resolve(context.cwd, into)),
      ...given('verify', options.text('verify')),
      ...given('session', options.text('session')),
      ...given('waitMs', options.seconds('wait')),
      ...given('confirm', consent.confirm),
    });
    return restoreOutcome(result, consent.shown);
  },
};
