import { newSessionId, useSession } from '../checkpoints/sessions/session.ts';
import type { PlanId, RunId } from '../domain/ids.ts';
import type { Plan } from '../domain/plan.ts';
import { loadPlanFile } from './document/load-plan-file.ts';
import type { RunPlanOptions } from './plan-service.ts';
import { newPlan } from './records/new-records.ts';
import { contextFor, type PlanHome } from './records/plan-home.ts';
import { requireAgents } from './tools/configured-agent.ts';

/**
 * Reads a plan file and records the plan, ready to be executed. Tells whether its session is new.
 *
 * @throws WaymarkError what {@link loadPlanFile} throws; `CONFIG_INVALID` for an agent that is not configured
 */
export async function startPlan(
  { home, repository, log, ...rest }: PlanHome,
  options: RunPlanOptions,
): Promise<{ readonly plan: Plan; readonly newSession: boolean }> {
  const document = await loadPlanFile(options.file, options.variables);
  const context = contextFor(
    { home, repository, log, ...rest },
    { runId: null, sessionId: null },
    options.workspace,
  );
  const { identity } = context;
  requireAgents(home.settings(identity.path).settings.agents, document);
  const session = useSession(context, options.session ?? context.currentSession ?? newSessionId(context));
  home.catalog.saveWorkspace(identity);
  const id = home.ids.ulid() as PlanId;
  const strategy = options.worktree ? 'git_worktree' : (document.sandbox ?? 'none');
  const sandbox = { strategy, path: '', owner: 'own', state: 'creating', branch: null, base: null } as const;
  const plan = newPlan(home, document, {
    id,
    parentId: null,
    parentDecisionId: null,
    workspace: identity.path,
    dirHash: identity.dirHash,
    sessionId: session.id,
    runId: `plan-${id.toLowerCase()}` as RunId,
    sandbox,
  });
  log.atomically('plan-created', () => {
    repository.addPlan(plan);
    log.record({ planId: id, kind: 'plan_created', data: { name: plan.name, file: options.file } });
    log.record({
      planId: id,
      kind: 'phase_changed',
      data: { phase: 'strategize', state: 'complete', error: null },
    });
  });
  return { plan, newSession: session.isNew };
}
