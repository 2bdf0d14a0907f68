import { countText } from '../../domain/count-text.ts';
import { quotePath } from '../../domain/rel-path.ts';
import type { PlanStatus } from '../../plans/plan-status.ts';
import type { CommandModule } from '../command.ts';
import { planStatusJson } from '../json/plan-json.ts';
import type { Block } from '../render/block.ts';
import { timeText } from '../time-text.ts';

/** `waymark plan status PLAN` */
export const planStatus: CommandModule = {
  configure: (command) => command.argument('<plan>', 'a plan, or enough of its id'),
  examples: [['waymark plan status 01J8ZQ4T', 'how far it is, and which checkpoints could not be taken']],
  async run(context, { words, literal }) {
    const [name = ''] = [...words, ...literal];
    const status = (await (await context.waymark()).plans()).status(name);
    return { data: () => planStatusJson(status), blocks: () => [fields(status), ...missed(status)] };
  },
};

function fields({
  plan,
  running,
  sandboxMissing,
  decisions,
  stepsTotal,
  checkpointsTaken,
  children,
}: PlanStatus): Block {
  const counts = Object.entries(decisions).filter(([, count]) => count > 0);
  return {
    kind: 'fields',
    fields: [
      ['Plan', `${plan.id} (${plan.name})`],
      [
        'State',
        `${plan.phase}/${plan.state}${running ? ', running' : ''}${plan.invalidated ? ', invalidated' : ''}`,
      ],
      ['Workspace', quotePath(plan.workspace)],
      [
        'Sandbox',
        `${plan.sandbox.strategy} ${quotePath(plan.sandbox.path)}${sandboxMissing ? ' (missing)' : ''}`,
      ],
      [
        'Steps',
        `${stepsTotal}; ${counts.map(([state, count]) => `${count} ${state}`).join(', ') || 'none begun'}`,
      ],
      ['Subplans', String(children.length)],
      ['Checkpoints', String(checkpointsTaken)],
      ['Updated', timeText(plan.updatedAt)],
      ...(plan.error === null ? [] : ([['Error', plan.error.message]] as const)),
    ],
  };
}

function missed({ checkpointsMissed }: PlanStatus): readonly Block[] {
  if (checkpointsMissed.length === 0) return [];
  return [
    { kind: 'line', text: `${countText(checkpointsMissed.length, 'checkpoint')} not taken:`, tone: 'warn' },
    {
      kind: 'table',
      columns: [
        { title: 'Type' },
        { title: 'Decision', tone: 'dim' },
        { title: 'Reason' },
        { title: 'Message' },
      ],
      rows: checkpointsMissed.map(({ decisionId, data }) => [
        String(data['checkpoint_type'] ?? ''),
        decisionId ?? '',
        String(data['reason'] ?? ''),
        String(data['message'] ?? ''),
      ]),
      most: 50,
    },
  ];
}
