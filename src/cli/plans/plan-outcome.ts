import type { Plan } from '../../domain/plan.ts';
import { EXIT } from '../exit-status.ts';
import { planJson } from '../json/plan-json.ts';
import { line } from '../render/block.ts';
import type { Result } from '../render/result.ts';

/** Says how a plan ended; a plan that failed is a failed command. */
export function planOutcome(plan: Plan, options: { readonly printed?: boolean } = {}): Result {
  const { error, state } = plan;
  const exitStatus =
    state === 'complete' || state === 'applied'
      ? EXIT.done
      : error?.code === 'INTERRUPTED' || state === 'cancelled'
        ? EXIT.interrupted
        : EXIT.failed;
  if (options.printed) return { exitStatus };
  return {
    data: () => planJson(plan),
    plain: () => [line(plan.id)],
    blocks: () => [
      line(
        `Plan ${plan.id} (${plan.name}): ${plan.phase}/${state}`,
        exitStatus === EXIT.done ? 'good' : 'bad',
      ),
    ],
    notes: [...(error === null ? [] : [error.message]), ...hintsFor(plan)],
    exitStatus,
  };
}

function hintsFor({ id, state, sandbox }: Plan): readonly string[] {
  if (state === 'complete' && sandbox.strategy !== 'none')
    return [`The result is in ${sandbox.path}: waymark plan diff ${id}; waymark plan apply ${id}`];
  if (state === 'errored') return [`Go on with: waymark plan run --resume ${id}`];
  return [];
}
