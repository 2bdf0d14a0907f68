import type { Decision } from '../../domain/decision.ts';
import type { PlanCheckpoint } from '../../plans/checkpoints/checkpoint-service.ts';
import type { DecisionNode, PlanTree } from '../../plans/plan-tree.ts';
import type { Tone } from '../render/block.ts';
import type { Branch } from '../render/branch-lines.ts';

/** A plan as a tree: decisions with the checkpoints hung on them, in the order in which they came to be. What counts no more is dimmed. */
export function planBranch({ plan, decisions, checkpoints, corrections }: PlanTree, gone = false): Branch {
  const isGone = gone || plan.invalidated;
  const state = `${plan.phase}/${plan.state}${plan.invalidated ? ', invalidated' : ''}`;
  return {
    text: `plan ${plan.id} ${plan.name}: ${state}`,
    tone: isGone ? 'dim' : 'strong',
    below: inOrder([
      ...decisions.map((node) => [node.decision.id, decisionBranch(node, isGone)] as const),
      ...checkpoints.map((one) => [one.checkpointId, checkpointBranch(one, isGone)] as const),
      ...corrections.map(
        ({ id, mode, decisionId, guidance }) =>
          [
            id,
            {
              text: `correction (${mode}) of ${decisionId}: ${guidance}`,
              tone: isGone ? 'dim' : 'accent',
              below: [],
            },
          ] as const,
      ),
    ]),
  };
}

function decisionBranch({ decision, checkpoints, children, plans }: DecisionNode, gone: boolean): Branch {
  const { id, step, lane, title, state, mark, attempts } = decision;
  const isGone = gone || mark !== null;
  const again = attempts > 1 ? `, ${attempts} attempts` : '';
  const number = lane === null ? `${step + 1}.` : `${step + 1}.${lane + 1}`;
  return {
    text: `${number} ${title}: ${mark ?? state}${again}  ${id}`,
    tone: isGone ? 'dim' : toneOf(decision),
    below: inOrder([
      ...checkpoints.map((one) => [one.checkpointId, checkpointBranch(one, isGone)] as const),
      ...children.map((child) => [child.decision.id, decisionBranch(child, isGone)] as const),
      ...plans.map((tree) => [tree.plan.id, planBranch(tree, isGone)] as const),
    ]),
  };
}

function checkpointBranch(checkpoint: PlanCheckpoint, gone: boolean): Branch {
  const { checkpointId, checkpointType, metadata } = checkpoint;
  const reason = metadata.reason === checkpointType.replaceAll('_', '-') ? '' : ` (${metadata.reason})`;
  return {
    text: `${checkpointType}${reason}  ${checkpointId}`,
    tone: gone ? 'dim' : 'plain',
    below: [],
  };
}

function toneOf({ state }: Decision): Tone {
  return state === 'errored' ? 'bad' : state === 'complete' ? 'good' : 'plain';
}

/** ULIDs order by time. */
function inOrder(named: readonly (readonly [id: string, branch: Branch])[]): readonly Branch[] {
  return named.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, branch]) => branch);
}
