import type { SandboxStrategyName } from '../../domain/plan.ts';

/** A plan as its file says it: checked, variables filled in, subplan files read. Plain JSON, so that it can be stored with the plan. */
export interface PlanDocument {
  readonly name: string;
  readonly description?: string;
  /** Missing: for a plan `none`, for a subplan its parent's sandbox. */
  readonly sandbox?: SandboxStrategyName;
  /** What every agent of the plan is told. */
  readonly guidance: readonly string[];
  readonly steps: readonly Step[];
}

interface StepCommon {
  readonly id?: string;
  readonly title?: string;
  /** ms */
  readonly timeoutMs?: number;
  /** further attempts after a failed one, 0 to 10 */
  readonly retry: number;
  readonly continueOnError: boolean;
}

export interface WriteFileStep extends StepCommon {
  readonly tool: 'write_file';
  readonly path: string;
  readonly content: string;
  readonly executable?: boolean;
}

/** One exact replacement; `search` must occur exactly once. */
export interface Replacement {
  readonly search: string;
  readonly replace: string;
}

export interface EditFileStep extends StepCommon {
  readonly tool: 'edit_file';
  readonly path: string;
  /** applied in order, all or none */
  readonly edits: readonly Replacement[];
}

export interface DeleteFileStep extends StepCommon {
  readonly tool: 'delete_file';
  readonly path: string;
}

export interface ApplyPatchStep extends StepCommon {
  readonly tool: 'apply_patch';
  /** unified diff of one or more files */
  readonly patch: string;
}

export interface ShellStep extends StepCommon {
  readonly tool: 'shell';
  /** a line for `/bin/sh -c`, or a program and its arguments */
  readonly command: string | readonly string[];
  /** relative to the sandbox */
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface AgentStep extends StepCommon {
  readonly tool: 'agent';
  /** name under `[agents]` of the configuration; missing: `default` */
  readonly agent?: string;
  /** a program and its arguments instead; `{prompt}` in one stands for the prompt, which goes to standard input otherwise */
  readonly command?: readonly string[];
  readonly prompt: string;
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
}

export type ToolStep = WriteFileStep | EditFileStep | DeleteFileStep | ApplyPatchStep | ShellStep | AgentStep;

/** `shared`: the parent's own sandbox. */
export type SubplanSandbox = 'shared' | 'filesystem_copy' | 'git_worktree';

export interface SubplanStep extends StepCommon {
  readonly subplan: PlanDocument;
  readonly sandbox: SubplanSandbox;
}

/** Subplans side by side: a wave. */
export interface ParallelStep extends StepCommon {
  readonly parallel: readonly PlanDocument[];
  readonly sandbox: SubplanSandbox;
  /** at once; missing: all */
  readonly maxParallel?: number;
}

export type Step = ToolStep | SubplanStep | ParallelStep;

/** Says what a step does in one line, without prompt text. */
export function titleOf(step: Step): string {
  if (step.title !== undefined) return step.title;
  if ('subplan' in step) return `subplan ${step.subplan.name}`;
  if ('parallel' in step) return `parallel ${step.parallel.map(({ name }) => name).join(', ')}`;
  switch (step.tool) {
    case 'write_file':
    case 'edit_file':
    case 'delete_file':
      return `${step.tool} ${step.path}`;
    case 'apply_patch':
      return 'apply_patch';
    case 'shell':
      return `shell ${oneLine(typeof step.command === 'string' ? step.command : step.command.join(' '))}`;
    case 'agent':
      return `agent ${step.agent ?? step.command?.[0] ?? 'default'}`;
  }
}

function oneLine(text: string): string {
  const [line = ''] = text.trim().split('\n');
  return line.length > 80 || text.trim().includes('\n') ? `${line.slice(0, 79)}…` : line;
}
