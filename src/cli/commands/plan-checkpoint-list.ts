import type { CommandModule } from '../command.ts';
import { checkpointJson } from '../json/checkpoint-json.ts';

/** `waymark plan checkpoint list PLAN` */
export const planCheckpointList: CommandModule = {
  configure: (command) => command.argument('<plan>', 'a plan, or enough of its id'),
  examples: [
    ['waymark plan checkpoint list 01J8ZQ4T', 'newest first'],
    ['waymark plan checkpoint list 01J8ZQ4T --format json', 'for scripts'],
  ],
  async run(context, { words, literal }) {
    const [name = ''] = [...words, ...literal];
    const waymark = await context.waymark();
    const { id } = (await waymark.plans()).find(name);
    const checkpoints = await waymark.listCheckpoints({ plan: id, everywhere: true });
    return {
      data: () => checkpoints.map((checkpoint) => checkpointJson(checkpoint)),
      blocks: () => [
        {
          kind: 'table',
          columns: [
            { title: 'checkpoint_id', tone: 'accent' },
            { title: 'checkpoint_type' },
            { title: 'decision_id', tone: 'dim' },
            { title: 'sandbox_ref', tone: 'dim' },
            { title: 'size_bytes' },
            { title: 'created_at', tone: 'dim' },
          ],
          rows: checkpoints.map((checkpoint) => [
            checkpoint.id,
            checkpoint.type,
            checkpoint.decisionId ?? '',
            checkpoint.sandboxRef,
            String(checkpoint.sizeBytes),
            checkpoint.createdAt,
          ]),
        },
      ],
      notes: checkpoints.length === 0 ? [`No checkpoints of plan ${id}`] : [],
    };
  },
};
