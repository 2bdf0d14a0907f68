import { delimiter, dirname } from 'node:path';
import type { Decision } from '../../domain/decision.ts';
import type { Plan } from '../../domain/plan.ts';
import type { PlanScope } from '../records/plan-scope.ts';

/** Names the step to the processes that it starts; by it they are found when Waymark died before them. */
export const DECISION_VARIABLE = 'WAYMARK_DECISION';

/** Variables by which git would work on another repository than the one it finds in the sandbox. */
const GIT_PLACES = [
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_COMMON_DIR',
  'GIT_OBJECT_DIRECTORY',
  'GIT_NAMESPACE',
];

/** What a step's commands see: the plan's environment and where they are in it. */
export function stepEnvironment(
  { environment, plan }: PlanScope,
  { id }: Decision,
): Readonly<Record<string, string | undefined>> {
  return {
    ...environment,
    ...gitEnvironment(plan, environment),
    WAYMARK_PLAN: plan.id,
    [DECISION_VARIABLE]: id,
    ...(plan.sessionId === null ? {} : { WAYMARK_SESSION: plan.sessionId }),
    ...(plan.runId === null ? {} : { WAYMARK_RUN: plan.runId }),
  };
}

/** In a sandbox git finds the sandbox's repository or none: never the user's, in which a copy lies. */
function gitEnvironment(
  { sandbox }: Plan,
  environment: PlanScope['environment'],
): Readonly<Record<string, string | undefined>> {
  if (sandbox.strategy === 'none') return {};
  const places = Object.fromEntries(GIT_PLACES.map((name) => [name, undefined]));
  if (sandbox.strategy === 'git_worktree') return places;
  const ceilings = [environment['GIT_CEILING_DIRECTORIES'], dirname(sandbox.path)].filter(Boolean);
  return { ...places, GIT_CEILING_DIRECTORIES: ceilings.join(delimiter) };
}
