import type { NewEvent, PlanRepository } from '../../catalog/plans/plan-repository.ts';
import type { PlanEvent } from '../../domain/plan-event.ts';
import type { Clock } from '../../platform/clock.ts';
import { isoTime } from '../../platform/clock.ts';

export type PlanEventListener = (event: PlanEvent) => void;

/** Records what happens to plans and shows it to whoever listens. Listeners see an event after it is durable. */
export interface PlanLog {
  record(event: NewEvent): PlanEvent;
  /** Shows what is not recorded: output. */
  show(event: NewEvent): void;
  /** Runs `body` as one transaction and returns its result; what it records is shown once it is durable. */
  atomically<T>(name: string, body: () => T): T;
  subscribe(listener: PlanEventListener): () => void;
}

export function createPlanLog(repository: PlanRepository, clock: Clock): PlanLog {
  const listeners = new Set<PlanEventListener>();
  let held: PlanEvent[] | undefined;
  const tell = (event: PlanEvent) => {
    for (const listener of listeners) listener(event);
  };
  return {
    record(event) {
      const recorded = repository.appendEvent(event);
      if (held === undefined) tell(recorded);
      else held.push(recorded);
      return recorded;
    },
    show: ({ planId, kind, decisionId = null, checkpointId = null, data = {} }) =>
      tell({ seq: 0, at: isoTime(clock.now()), planId, kind, decisionId, checkpointId, data }),
    atomically(name, body) {
      if (held !== undefined) return body();
      const events: PlanEvent[] = [];
      held = events;
      try {
        return repository.atomically(name, body);
      } catch (error) {
        events.length = 0;
        throw error;
      } finally {
        held = undefined;
        events.forEach(tell);
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
