import type { DecisionNode, PlanTree } from '../../plans/plan-tree.ts';
import type { CommandModule } from '../command.ts';
import { planTreeJson } from '../json/plan-json.ts';
import { type Block, line, type Tone } from '../render/block.ts';

/** `waymark plan tree PLAN` */
export const planTree: CommandModule = {
  configure: (command) => command.argument('<plan>', 'a plan, or enough of its id'),
  examples: [['waymark plan tree 01J8ZQ4T', 'its decisions, those that were rolled back or replaced too']],
  async run(context, { words, literal }) {
    const [name = ''] = [...words, ...literal];
    const tree = (await (await context.waymark()).plans()).tree(name);
    return { data: () => planTreeJson(tree), blocks: () => planBlocks(tree, 0) };
  },
};

function planBlocks({ plan, decisions, corrections }: PlanTree, depth: number): readonly Block[] {
  const state = `${plan.phase}/${plan.state}${plan.invalidated ? ', invalidated' : ''}`;
  return [
    indented(depth, `plan ${plan.id} ${plan.name}: ${state}`, 'strong'),
    ...decisions.flatMap((node) => nodeBlocks(node, depth + 1)),
    ...corrections.map(({ mode, decisionId, guidance }) =>
      indented(depth + 1, `correction (${mode}) of ${decisionId}: ${guidance}`, 'accent'),
    ),
  ];
}

function nodeBlocks({ decision, children, plans }: DecisionNode, depth: number): readonly Block[] {
  const { id, step, title, state, mark, attempts } = decision;
  const again = attempts > 1 ? `, ${attempts} attempts` : '';
  const tone: Tone =
    mark !== null ? 'dim' : state === 'errored' ? 'bad' : state === 'complete' ? 'good' : 'plain';
  return [
    indented(depth, `${step + 1}. ${title}: ${mark ?? state}${again}  ${id}`, tone),
    ...children.flatMap((child) => nodeBlocks(child, depth + 1)),
    ...plans.flatMap((plan) => planBlocks(plan, depth + 1)),
  ];
}

function indented(depth: number, text: string, tone: Tone): Block {
  return line(`${'  '.repeat(depth)}${text}`, tone);
}
