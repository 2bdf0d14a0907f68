import type { ToolName } from '../../domain/decision.ts';
import type { FileSystem } from '../../platform/file-system.ts';
import type { ToolStep } from '../document/plan-document.ts';

/** Where and with what a tool works. */
export interface ToolContext {
  /** real path of the sandbox */
  readonly root: string;
  readonly fs: FileSystem;
  /** real paths of directories in which nothing may be changed: `WAYMARK_HOME` */
  readonly forbidden: readonly string[];
  /** the whole environment of commands, but for a step's own */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** configured agent commands by name */
  readonly agents: Readonly<Record<string, readonly string[]>>;
  /** what agents are told before the prompt */
  readonly guidance: readonly string[];
  readonly signal: AbortSignal;
  readonly onOutput: (stream: 'stdout' | 'stderr', chunk: Buffer) => void;
}

/** What a tool did; failures are thrown. */
export interface ToolOutcome {
  /** the end of what was printed, or a line that says what was done */
  readonly output: string;
  readonly exitCode: number | null;
}

/** Does the work of one kind of step. Whether it may write is a property of the tool, not of what a step makes it do. */
export interface Tool<S extends ToolStep = ToolStep> {
  readonly name: S['tool'] & ToolName;
  readonly writes: boolean;
  run(step: S, context: ToolContext): Promise<ToolOutcome>;
}

/** bytes of output that are recorded of one tool call */
export const RECORDED_OUTPUT = 64 * 1024;
