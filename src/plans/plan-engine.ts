import { realpathSync } from 'node:fs';
import type { Settings } from '../config/settings.ts';
import type { Decision } from '../domain/decision.ts';
import { WaymarkError } from '../domain/errors.ts';
import { spawnCommand } from '../platform/spawn-command.ts';
import { PlanExecutor } from './executor/plan-executor.ts';
import { stepOperations } from './executor/step-operations.ts';
import { SubplanExecutionService } from './executor/subplan-execution-service.ts';
import { takeBackSteps } from './executor/take-back-step.ts';
import { ToolRunner } from './executor/tool-runner.ts';
import type { PlanHome } from './records/plan-home.ts';
import { filesystemCopy } from './sandbox/filesystem-copy.ts';
import { gitWorktree, type SetUp } from './sandbox/git-worktree.ts';
import { inPlace } from './sandbox/in-place.ts';
import { PlanSandboxes } from './sandbox/plan-sandboxes.ts';
import type { SandboxResults } from './sandbox/sandbox-results.ts';
import { WorkspaceSandboxResults } from './sandbox/workspace-sandbox-results.ts';
import { workspaceWaves } from './sandbox/workspace-waves.ts';
import { WorkspaceCheckpointService } from './workspace-checkpoint-service.ts';

/** What executes the plans of one workspace. */
export interface PlanEngine {
  readonly executor: PlanExecutor;
  readonly sandboxes: PlanSandboxes;
  readonly results: SandboxResults;
  readonly checkpointService: WorkspaceCheckpointService;
}

export type MayRepeat = (decision: Decision) => Promise<boolean>;

/** Puts the parts together, with the settings of the workspace (not those that a sandbox carries). */
export function createPlanEngine(
  planHome: PlanHome,
  { autoCreateOn, agents, worktreeSetup }: Pick<Settings, 'autoCreateOn' | 'agents' | 'worktreeSetup'>,
  environment: Readonly<Record<string, string | undefined>>,
  mayRepeat?: MayRepeat,
): PlanEngine {
  const { home, repository, log } = planHome;
  const { clock, ids, fs } = home;
  const forbidden = [realpathSync(home.layout.home)];
  const checkpointService = new WorkspaceCheckpointService(planHome);
  const results = new WorkspaceSandboxResults(planHome);
  const sandboxes = new PlanSandboxes({
    repository,
    log,
    results,
    strategies: {
      none: inPlace,
      filesystem_copy: filesystemCopy(fs, forbidden),
      git_worktree: gitWorktree(
        home,
        worktreeSetup === undefined ? undefined : setUpWith(worktreeSetup, environment),
      ),
    },
  });
  const common = { repository, log, clock, ids, autoCreateOn, checkpointService };
  const toolRunner = new ToolRunner({
    ...common,
    fs,
    agents,
    forbidden,
    noteStep: stepOperations(planHome),
  });
  const waves = workspaceWaves(planHome);
  const subplans = new SubplanExecutionService({ ...common, sandboxes, results, waves });
  const executor = new PlanExecutor({
    ...common,
    toolRunner,
    subplans,
    takeBackStep: takeBackSteps(planHome),
    ...(mayRepeat === undefined ? {} : { mayRepeat }),
  });
  return { executor, sandboxes, results, checkpointService };
}

/** Runs the configured command in a fresh worktree. Its output is part of the message where it fails. */
function setUpWith(command: string, environment: Readonly<Record<string, string | undefined>>): SetUp {
  return async (directory) => {
    const { exitCode, signal, stderr } = await spawnCommand({
      command: { shell: command },
      cwd: directory,
      env: environment,
      stdio: 'capture',
      ownGroup: true,
    });
    if (exitCode === 0) return;
    const why = signal === null ? `exited with status ${exitCode}` : `was ended by ${signal}`;
    const said = stderr?.toString('utf8').trim().split('\n').at(-1) ?? '';
    throw new WaymarkError('COMMAND_FAILED', `[worktree] setup "${command}" ${why}`, {
      ...(said === '' ? {} : { hint: said }),
    });
  };
}
