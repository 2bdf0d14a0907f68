import type { CommandModule } from '../command.ts';
import { countText, summaryText } from '../count-text.ts';
import { diffJson } from '../json/diff-json.ts';
import { changeBlocks, skipBlocks } from '../render/change-blocks.ts';

/** `waymark plan diff PLAN` */
export const planDiff: CommandModule = {
  configure: (command) => command.argument('<plan>', 'a plan, or enough of its id'),
  examples: [['waymark plan diff 01J8ZQ4T', 'what the plan changed in its sandbox so far']],
  async run(context, { words, literal }) {
    const [name = ''] = [...words, ...literal];
    const diff = await (await (await context.waymark()).plans()).diff(name);
    const { changes, skipped, summary } = diff;
    return {
      data: () => diffJson(diff),
      blocks: () => [...changeBlocks(changes), ...skipBlocks(skipped)],
      notes: [
        changes.length === 0
          ? 'No differences'
          : `${countText(changes.length, 'path')}: ${summaryText(summary)}`,
      ],
    };
  },
};
