import { onlyName } from '../checkpoint-names.ts';
import type { CommandModule } from '../command.ts';
import { checkpointJson } from '../json/checkpoint-json.ts';
import { line } from '../render/block.ts';

/** `waymark checkpoints pin NAME` */
export const checkpointsPin: CommandModule = pinning(true, [
  ['waymark checkpoints pin @', 'keep the newest for good'],
  ['waymark checkpoints pin nightly 3', 'keep the fourth of session nightly'],
]);

/** `waymark checkpoints unpin NAME` */
export const checkpointsUnpin: CommandModule = pinning(false, [
  ['waymark checkpoints unpin @', 'let retention decide about it again'],
]);

function pinning(pinned: boolean, examples: CommandModule['examples']): CommandModule {
  return {
    configure: (command) => command.argument('<checkpoint...>', 'an id, @, a commit or SESSION SEQ'),
    examples,
    async run(context, { words, literal }) {
      const workspace = await context.workspace();
      const name = await onlyName([...words, ...literal], context.isSession);
      const checkpoint = await workspace.pin(name, pinned);
      return {
        data: () => checkpointJson(checkpoint),
        blocks: () => [line(`${pinned ? 'Pinned' : 'Unpinned'} checkpoint ${checkpoint.id}`)],
      };
    },
  };
}
