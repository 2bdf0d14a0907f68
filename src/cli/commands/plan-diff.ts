import type { CommandModule } from '../command.ts';
import { diffJson } from '../json/diff-json.ts';
import { diffResult } from '../render/diff-result.ts';

/** `waymark plan diff PLAN` */
export const planDiff: CommandModule = {
  configure: (command) => command.argument('<plan>', 'a plan, or enough of its id'),
  examples: [['waymark plan diff 01J8ZQ4T', 'what the plan changed in its sandbox so far']],
  async run(context, { words, literal }) {
    const [name = ''] = [...words, ...literal];
    const plans = await (await context.waymark()).plans();
    return diffResult(await plans.diff(name), diffJson);
  },
};
