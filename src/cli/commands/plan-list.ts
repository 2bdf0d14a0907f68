import type { CommandModule } from '../command.ts';
import { planJson } from '../json/plan-json.ts';
import { timeText } from '../time-text.ts';

/** `waymark plan list` */
export const planList: CommandModule = {
  configure: (command) =>
    command.option('--all', 'those of every workspace').option('--limit <count>', 'at most so many'),
  examples: [
    ['waymark plan list', 'plans of this workspace, newest first'],
    ['waymark plan list --format json', 'for a program'],
  ],
  async run(context, { options }) {
    const plans = await (await context.waymark()).plans();
    const filter = options.flag('all') ? {} : { dirHash: (await context.workspace()).identity.dirHash };
    const list = plans.list(filter).slice(0, options.count('limit'));
    return {
      data: () => list.map(planJson),
      blocks: () => [
        {
          kind: 'table',
          columns: [
            { title: 'Plan', tone: 'accent' },
            { title: 'Created', tone: 'dim' },
            { title: 'Name' },
            { title: 'Phase' },
            { title: 'State' },
            { title: 'Sandbox', tone: 'dim' },
          ],
          rows: list.map(({ id, createdAt, name, phase, state, sandbox }) => [
            id,
            timeText(createdAt),
            name,
            phase,
            state,
            sandbox.strategy,
          ]),
        },
      ],
      notes: list.length === 0 ? ['No plans yet'] : [],
    };
  },
};
