import type { CommandModule } from '../command.ts';
import { consentTo } from '../consent.ts';
import { pathJson } from '../json/path-json.ts';
import { restoreJson } from '../json/restore-json.ts';
import { given } from '../options.ts';
import { progressLine } from '../progress-line.ts';
import { restoreOutcome } from '../restore-outcome.ts';
import { absolutePaths } from '../workspace-paths.ts';

/** `waymark worktree apply RUN [-- PATH…]` */
export const worktreeApply: CommandModule = {
  configure: (command) =>
    command
      .argument('<run>', 'a run, as worktree list names it')
      .argument('[paths...]', 'only these paths')
      .option('-y, --yes', 'agree to what would be shown')
      .option('-n, --dry-run', 'show what would change, write nothing')
      .option('--session <id>', 'the session that the safety checkpoint belongs to')
      .option('--wait <seconds>', 'how long to wait for a run or wave to end (default: refuse at once)'),
  examples: [
    ['waymark worktree apply fix', 'bring what the run changed into this checkout; shows it and asks'],
    ['waymark worktree apply fix --dry-run', 'what would change, and what is in conflict'],
    ['waymark worktree apply fix --yes -- src/app.ts', 'one file, without asking'],
    ['waymark undo', 'afterwards: take it back'],
  ],
  onInterrupt: 'abort',
  async run(context, { words, literal, options }) {
    const [run = '', ...rest] = [...words, ...literal];
    const workspace = await context.workspace();
    using progress = progressLine(context.terminal, workspace);
    const consent = consentTo(context, options.flag('yes'), progress);
    const result = await workspace.worktreeApply(run, {
      paths: absolutePaths(rest, context.cwd),
      dryRun: options.flag('dryRun'),
      ...given('session', options.text('session')),
      ...given('waitMs', options.seconds('wait')),
      ...given('confirm', consent.confirm),
    });
    return {
      ...restoreOutcome(result, consent.shown),
      data: () => ({
        ...restoreJson(result),
        run_id: result.runId,
        into: pathJson(result.into),
        operation_id: result.operationId,
        merged: result.merged.map(pathJson),
      }),
    };
  },
};
