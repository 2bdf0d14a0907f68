import type { CommandModule } from '../command.ts';
import { planTreeJson } from '../json/plan-json.ts';
import { planBranch } from '../plans/plan-branches.ts';
import { branchLines } from '../render/branch-lines.ts';

/** `waymark plan tree PLAN` */
export const planTree: CommandModule = {
  configure: (command) => command.argument('<plan>', 'a plan, or enough of its id'),
  examples: [
    [
      'waymark plan tree 01J8ZQ4T',
      'its decisions with their checkpoints, those that were rolled back or replaced too',
    ],
  ],
  async run(context, { words, literal }) {
    const [name = ''] = [...words, ...literal];
    const tree = (await (await context.waymark()).plans()).tree(name);
    return { data: () => planTreeJson(tree), blocks: () => branchLines(planBranch(tree)) };
  },
};
