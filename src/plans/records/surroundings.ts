import type { Plan } from '../../domain/plan.ts';
import type { PlanScope } from './plan-scope.ts';

/** What a plan is executed in; the rest of its {@link PlanScope} is its own. */
export type Surroundings = Pick<PlanScope, 'root' | 'inWave' | 'guidance' | 'environment' | 'signal'>;

/** Executes a plan to its end and gives its record. */
export type ExecutePlan = (plan: Plan, surroundings: Surroundings) => Promise<Plan>;
