import type { CommandModule } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { checkpointJson } from '../json/checkpoint-json.ts';
import { given } from '../options.ts';
import { checkpointTable } from '../render/checkpoint-table.ts';

/** `waymark checkpoints list` */
export const checkpointsList: CommandModule = {
  configure: (command) =>
    command
      .option('--session <id>', 'only those of a session')
      .option('--plan <id>', 'only those of a plan')
      .option('--run <id>', 'only those of a run')
      .option('--all', 'those of every workspace')
      .option('--limit <count>', 'at most so many'),
  examples: [
    ['waymark checkpoints list', 'all of this workspace, newest first'],
    ['waymark checkpoints list --session nightly --format json', 'one session, for a program'],
    ['waymark checkpoints list --all', 'every workspace'],
  ],
  async run(context, { options }) {
    const all = options.flag('all');
    const filter = {
      ...given('session', options.text('session')),
      ...given('plan', options.text('plan')),
      ...given('run', options.text('run')),
    };
    const found = all
      ? await (await context.waymark()).listCheckpoints({ ...filter, everywhere: true })
      : await (await context.workspace()).listCheckpoints(filter);
    const checkpoints = found.slice(0, options.count('limit'));
    return {
      data: () => checkpoints.map((checkpoint) => checkpointJson(checkpoint)),
      blocks: () => [checkpointTable(checkpoints, all)],
      notes: checkpoints.length > 0 || all ? [] : await emptyNotes(context, Object.keys(filter).length > 0),
    };
  },
};

async function emptyNotes(context: CommandContext, filtered: boolean): Promise<readonly string[]> {
  const { checkpointsBelow, workspace } = await (await context.workspace()).status();
  const below = checkpointsBelow.slice(0, 3).map((path) => `There are checkpoints of ${path}`);
  return [
    `No ${filtered ? 'such ' : ''}checkpoints of ${workspace.path}`,
    ...below,
    ...(below.length > 0 ? ['waymark checkpoints list --all shows those of every workspace'] : []),
  ];
}
