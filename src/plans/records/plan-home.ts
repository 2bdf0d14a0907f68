import type { CheckpointRepository } from '../../catalog/plans/checkpoint-repository.ts';
import type { PlanRepository } from '../../catalog/plans/plan-repository.ts';
import type { HomeContext, WorkspaceContext } from '../../checkpoints/workspace/home-context.ts';
import type { Plan } from '../../domain/plan.ts';
import { identifyWorkspace } from '../../workspace/identity.ts';
import type { PlanLog } from './plan-log.ts';

/** What everything about plans needs, built once by the composition root. */
export interface PlanHome {
  readonly home: HomeContext;
  readonly repository: PlanRepository;
  readonly checkpointRecords: CheckpointRepository;
  readonly log: PlanLog;
}

/**
 * The context to work in a directory on behalf of a plan: inside its run, in its session. A verification command of the settings is not run:
 * it belongs to restores that a person asks for.
 */
export function contextFor(
  { home }: PlanHome,
  plan: Pick<Plan, 'runId' | 'sessionId'>,
  directory: string,
  warn: (message: string) => void = () => {},
): WorkspaceContext {
  return {
    ...home,
    currentRun: plan.runId ?? home.currentRun,
    enclosingRuns: [
      ...(home.enclosingRuns ?? []),
      ...(home.currentRun === undefined ? [] : [home.currentRun]),
    ],
    currentSession: plan.sessionId ?? home.currentSession,
    settings: (workspace) => {
      const resolved = home.settings(workspace);
      return { ...resolved, settings: { ...resolved.settings, restoreVerify: undefined } };
    },
    identity: identifyWorkspace(directory),
    progress: () => {},
    warn,
  };
}
