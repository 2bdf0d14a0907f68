import type { Plan } from '../../domain/plan.ts';
import type { PlanDocument } from '../document/plan-document.ts';

/** The surroundings in which a plan's steps run. */
export interface PlanScope {
  readonly plan: Plan;
  readonly document: PlanDocument;
  /** real path of the sandbox */
  readonly root: string;
  /** a wave holds the sandbox: no checkpoint can be taken in it */
  readonly inWave: boolean;
  /** what agents are told, from the outermost plan inwards */
  readonly guidance: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}
