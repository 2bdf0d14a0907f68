import type { PlanRepository } from '../../catalog/plans/plan-repository.ts';
import type { Decision } from '../../domain/decision.ts';
import { WaymarkError } from '../../domain/errors.ts';
import { type DecisionId, isUlid, type PlanId } from '../../domain/ids.ts';
import type { Plan } from '../../domain/plan.ts';

const MIN_AFFIX = 6;

/**
 * Finds the plan that a name means: a ULID in any letter case, or a unique prefix or suffix of at least 6.
 *
 * @throws WaymarkError `PLAN_NOT_FOUND`, `AMBIGUOUS_ID`
 */
export function findPlan(repository: PlanRepository, name: string): Plan {
  const upper = name.toUpperCase();
  if (isUlid(upper)) return repository.plan(upper as PlanId) ?? notFound(name);
  if (upper.length < MIN_AFFIX) return notFound(name);
  const matches = repository.plans().filter(({ id }) => id.startsWith(upper) || id.endsWith(upper));
  const [only, second] = matches;
  if (only === undefined) return notFound(name);
  if (second !== undefined)
    throw new WaymarkError('AMBIGUOUS_ID', `"${name}" means ${matches.length} plans`, {
      details: { matches: matches.map(({ id }) => id) },
    });
  return only;
}

function notFound(name: string): never {
  throw new WaymarkError('PLAN_NOT_FOUND', `Not found: plan ${name}`, { hint: 'See: waymark plan list' });
}

/** Finds a decision by its ULID. @throws WaymarkError `DECISION_NOT_FOUND` */
export function findDecision(repository: PlanRepository, name: string): Decision {
  const upper = name.toUpperCase();
  const found = isUlid(upper) ? repository.decision(upper as DecisionId) : undefined;
  if (found !== undefined) return found;
  throw new WaymarkError('DECISION_NOT_FOUND', `Not found: decision ${name}`, {
    hint: 'See: waymark plan tree PLAN',
  });
}

/** The plan at the top of a plan's ancestors. */
export function rootOf(repository: PlanRepository, plan: Plan): Plan {
  let at = plan;
  while (at.parentId !== null) {
    const parent = repository.plan(at.parentId);
    if (parent === undefined) throw new WaymarkError('PLAN_NOT_FOUND', `Not found: plan ${at.parentId}`);
    at = parent;
  }
  return at;
}
