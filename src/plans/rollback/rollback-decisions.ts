import type { PlanRepository } from '../../catalog/plans/plan-repository.ts';
import type { Decision, DecisionMark } from '../../domain/decision.ts';
import { type DecisionFate, fateAt } from '../../domain/decision-fate.ts';
import type { DecisionId } from '../../domain/ids.ts';
import type { Plan, PlanState } from '../../domain/plan.ts';

/** What taking the records of a plan back to an earlier moment comes to. */
export interface DecisionRollback {
  /** decisions that count no more, in order */
  readonly undone: readonly Decision[];
  /** decisions with steps of their own that are under way again */
  readonly reopened: readonly Decision[];
  /** decisions that count again, since the moment lies before they were taken back */
  readonly revived: readonly Decision[];
  /** plans that have steps to run again, outermost first */
  readonly goingOn: readonly Plan[];
  /** plans whose spawning was undone */
  readonly invalidated: readonly Plan[];
  /** plans whose spawning counts again */
  readonly revalidated: readonly Plan[];
  /** plans whose results were brought to the sandbox after the moment */
  readonly unmerged: readonly Plan[];
}

/** Works out what going back to event `seq` means for every plan that runs in the sandbox of `owner`. Reads only. */
export function planDecisionRollback(repository: PlanRepository, owner: Plan, seq: number): DecisionRollback {
  const inside = plansInside(repository, owner);
  const decisions = inside.flatMap(({ id }) => repository.decisions(id)).sort(byId);
  const fates = new Map<DecisionId, DecisionFate>();
  for (const decision of decisions) fates.set(decision.id, fateAt(decision, seq));
  const fated = (fate: DecisionFate) => decisions.filter(({ id }) => fates.get(id) === fate);
  const undone = fated('undone').filter(({ mark }) => mark === null);
  const reopened = fated('reopened').filter(({ state }) => state !== 'processing');
  const revived = [...fated('kept'), ...fated('reopened')].filter(({ mark }) => mark !== null);
  const children = inside.flatMap(({ id }) => repository.plans({ parentId: id }));
  const spawnedBy = (...wanted: readonly DecisionFate[]) =>
    children.filter(({ parentDecisionId: id }) => id !== null && wanted.includes(fates.get(id) ?? 'gone'));
  const invalidated = spawnedBy('undone').filter((child) => !child.invalidated);
  const revalidated = spawnedBy('kept', 'reopened').filter((child) => child.invalidated);
  const goingOn = spawnedBy('reopened').filter(({ sandbox }) => sandbox.owner === 'shared');
  return {
    undone: [...undone, ...below(repository, invalidated).filter(({ mark }) => mark === null)].sort(byId),
    reopened,
    revived: [
      ...revived,
      ...below(repository, revalidated).filter(({ markedSeq }) => (markedSeq ?? 0) >= seq),
    ],
    goingOn: [...ancestorsOf(repository, owner), owner, ...goingOn],
    invalidated,
    revalidated,
    unmerged: spawnedBy('reopened').filter((child) => mergedAfter(repository, child, seq)),
  };
}

/** Writes it down. Call inside a transaction; `markSeq` is the event that stands for the rollback. */
export function applyDecisionRollback(
  repository: PlanRepository,
  rollback: DecisionRollback,
  options: { readonly mark: DecisionMark; readonly markSeq: number; readonly state: PlanState },
): void {
  const { mark, markSeq, state } = options;
  for (const { id } of rollback.revived) repository.changeDecision(id, { mark: null, markedSeq: null });
  for (const { id } of rollback.reopened)
    repository.changeDecision(id, { state: 'processing', finishedAt: null, finishedSeq: null, error: null });
  for (const { id } of rollback.undone) repository.changeDecision(id, { mark, markedSeq: markSeq });
  for (const { id } of rollback.revalidated) repository.changePlan(id, { invalidated: false });
  for (const { id } of rollback.invalidated) repository.changePlan(id, { invalidated: true });
  for (const { id } of rollback.unmerged) repository.changePlan(id, { phase: 'execute', state: 'complete' });
  for (const { id } of rollback.goingOn) repository.changePlan(id, { phase: 'execute', state, error: null });
}

function plansInside(repository: PlanRepository, owner: Plan): readonly Plan[] {
  const shared = repository.plans({ parentId: owner.id }).filter(({ sandbox }) => sandbox.owner === 'shared');
  return [owner, ...shared.toReversed().flatMap((child) => plansInside(repository, child))];
}

/** Decisions in sandboxes of their own: time does not go back there, they count or they do not. */
function below(repository: PlanRepository, plans: readonly Plan[]): readonly Decision[] {
  return everythingIn(
    repository,
    plans.filter(({ sandbox }) => sandbox.owner === 'own'),
  );
}

function everythingIn(repository: PlanRepository, plans: readonly Plan[]): readonly Decision[] {
  return plans.flatMap(({ id }) => [
    ...repository.decisions(id),
    ...everythingIn(repository, repository.plans({ parentId: id })),
  ]);
}

function ancestorsOf(repository: PlanRepository, plan: Plan): readonly Plan[] {
  const parent = plan.parentId === null ? undefined : repository.plan(plan.parentId);
  return parent === undefined ? [] : [...ancestorsOf(repository, parent), parent];
}

function mergedAfter(repository: PlanRepository, { id, state, sandbox }: Plan, seq: number): boolean {
  if (state !== 'applied' || sandbox.owner !== 'own') return false;
  return repository.events(id).some((event) => event.kind === 'result_merged' && event.seq > seq);
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : 1;
}
