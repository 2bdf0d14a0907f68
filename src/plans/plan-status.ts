import type { PlanRepository } from '../catalog/plans/plan-repository.ts';
import { DECISION_STATES, type DecisionState } from '../domain/decision.ts';
import type { Plan } from '../domain/plan.ts';
import type { PlanEvent } from '../domain/plan-event.ts';
import { sandboxExists } from './sandbox/plan-sandboxes.ts';

export interface PlanStatus {
  readonly plan: Plan;
  /** a process works on it now */
  readonly running: boolean;
  readonly sandboxMissing: boolean;
  /** live decisions by state, subplans' included */
  readonly decisions: Readonly<Record<DecisionState, number>>;
  readonly stepsTotal: number;
  readonly checkpointsTaken: number;
  /** automatic checkpoints that could not be taken, with the reason */
  readonly checkpointsMissed: readonly PlanEvent[];
  readonly children: readonly Plan[];
}

export function planStatus(repository: PlanRepository, plan: Plan, running: boolean): PlanStatus {
  const family = familyOf(repository, plan);
  const events = family.flatMap(({ id }) => repository.events(id)).sort((a, b) => a.seq - b.seq);
  const live = family.flatMap(({ id }) => repository.decisions(id)).filter(({ mark }) => mark === null);
  const decisions = Object.fromEntries(
    DECISION_STATES.map((state) => [state, live.filter((decision) => decision.state === state).length]),
  ) as Record<DecisionState, number>;
  return {
    plan,
    running,
    sandboxMissing: !sandboxExists(plan),
    decisions,
    stepsTotal: (JSON.parse(plan.document) as { readonly steps: readonly unknown[] }).steps.length,
    checkpointsTaken: events.filter(({ kind }) => kind === 'checkpoint_taken').length,
    checkpointsMissed: events.filter(
      ({ kind }) => kind === 'checkpoint_failed' || kind === 'checkpoint_skipped',
    ),
    children: family.slice(1),
  };
}

/** A plan and everything that it spawned and that counts. */
export function familyOf(repository: PlanRepository, plan: Plan): readonly Plan[] {
  const children = repository.plans({ parentId: plan.id }).filter(({ invalidated }) => !invalidated);
  return [plan, ...children.toReversed().flatMap((child) => familyOf(repository, child))];
}
