import type { CommandModule } from '../command.ts';
import { requireConsent } from '../consent.ts';
import { checkpointJson } from '../json/checkpoint-json.ts';
import { line } from '../render/block.ts';

/** `waymark plan checkpoint delete PLAN CHECKPOINT` */
export const planCheckpointDelete: CommandModule = {
  configure: (command) =>
    command
      .argument('<plan>', 'a plan, or enough of its id')
      .argument('<checkpoint>', 'one of its checkpoints')
      .option('--force', 'although the plan as a whole cannot be undone without it')
      .option('-y, --yes', 'do not ask'),
  examples: [['waymark plan checkpoint delete 01J8… 01J9…', 'drop one; prune frees its space']],
  async run(context, { words, literal, options }) {
    const [name = '', checkpoint = ''] = [...words, ...literal];
    const plans = await (await context.waymark()).plans();
    const { checkpointId, metadata } = plans.checkpointOf(name, checkpoint);
    await requireConsent(
      context,
      options.flag('yes'),
      `Delete checkpoint ${checkpointId} (${metadata.reason})?`,
    );
    const deleted = await plans.deleteCheckpoint(name, checkpointId, { force: options.flag('force') });
    return {
      data: () => checkpointJson(deleted),
      blocks: () => [line(`Deleted checkpoint ${deleted.id}`)],
    };
  },
};
