import { onlyName } from '../checkpoint-names.ts';
import type { CommandModule } from '../command.ts';
import { requireConsent } from '../consent.ts';
import { checkpointJson } from '../json/checkpoint-json.ts';
import { line } from '../render/block.ts';

/** `waymark checkpoints delete NAME` */
export const checkpointsDelete: CommandModule = {
  configure: (command) =>
    command
      .argument('<checkpoint...>', 'an id, @, a commit or SESSION SEQ')
      .option('--force', 'although a run or restore cannot be undone without it')
      .option('-y, --yes', 'do not ask'),
  examples: [['waymark checkpoints delete nightly 3', 'drop one checkpoint; prune frees its space']],
  async run(context, { words, literal, options }) {
    const workspace = await context.workspace();
    const name = await onlyName([...words, ...literal], context.isSession);
    const { id, metadata } = await workspace.findCheckpoint(name);
    await requireConsent(context, options.flag('yes'), `Delete checkpoint ${id} (${metadata.reason})?`);
    const checkpoint = await workspace.deleteCheckpoint(id, { force: options.flag('force') });
    return {
      data: () => checkpointJson(checkpoint),
      blocks: () => [line(`Deleted checkpoint ${checkpoint.id}`)],
    };
  },
};
