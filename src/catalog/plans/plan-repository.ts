import type { CorrectionAttempt, Decision, ToolCall } from '../../domain/decision.ts';
import type { DecisionId, DirHash, PlanId } from '../../domain/ids.ts';
import type { Plan, PlanRollback } from '../../domain/plan.ts';
import type { PlanEvent } from '../../domain/plan-event.ts';

export type NewEvent = Omit<PlanEvent, 'seq' | 'at' | 'decisionId' | 'checkpointId' | 'data'> &
  Partial<Pick<PlanEvent, 'decisionId' | 'checkpointId' | 'data'>>;

export interface PlanFilter {
  readonly dirHash?: DirHash;
  /** null: only plans without a parent */
  readonly parentId?: PlanId | null;
}

/**
 * Records of plans, their decisions, tool calls, corrections, rollbacks and events.
 *
 * Synchronous; each call is one short transaction, and what is called inside {@link atomically} is one together. Durable when the call returns.
 * Concurrency: any number of processes. Failure: a call that throws changed nothing. Changing an unknown record throws `INTERNAL`.
 */
export interface PlanRepository {
  atomically<T>(name: string, body: () => T): T;

  addPlan(plan: Plan): void;
  changePlan(id: PlanId, change: Partial<Omit<Plan, 'id'>>): Plan;
  plan(id: PlanId): Plan | undefined;
  /** Newest first. */
  plans(filter?: PlanFilter): readonly Plan[];

  addDecision(decision: Decision): void;
  changeDecision(id: DecisionId, change: Partial<Omit<Decision, 'id' | 'planId'>>): Decision;
  decision(id: DecisionId): Decision | undefined;
  /** Of one plan, marked ones included, in the order in which they came to be. */
  decisions(planId: PlanId): readonly Decision[];

  addToolCall(call: ToolCall): void;
  changeToolCall(id: string, change: Partial<Omit<ToolCall, 'id'>>): void;
  toolCalls(decisionId: DecisionId): readonly ToolCall[];

  addCorrection(correction: CorrectionAttempt): void;
  changeCorrection(id: string, change: Partial<Omit<CorrectionAttempt, 'id'>>): CorrectionAttempt;
  corrections(planId: PlanId): readonly CorrectionAttempt[];

  addRollback(rollback: PlanRollback): void;
  changeRollback(id: string, change: Partial<Omit<PlanRollback, 'id'>>): void;
  rollbacks(planId: PlanId): readonly PlanRollback[];

  /** Appends to the log and numbers the event. */
  appendEvent(event: NewEvent): PlanEvent;
  /** Of one plan, oldest first; only those after `since` where it is given. */
  events(planId: PlanId, since?: number): readonly PlanEvent[];
}
