import type { Command } from 'commander';
import type { CommandContext } from './context.ts';
import type { Options } from './options.ts';
import type { Result } from './render/result.ts';

/** What was typed, parsed. */
export interface Invocation {
  /** words before `--` (all, where there is none) */
  readonly words: readonly string[];
  /** words after `--`: never names, never options */
  readonly literal: readonly string[];
  readonly options: Options;
}

/** One command: parse, call, render. Loaded only when it is the one that was typed. */
export interface CommandModule {
  /** Declares arguments and options. */
  configure(command: Command): void;
  /** Command lines and what they do, for the help. */
  readonly examples: readonly (readonly [line: string, effect: string])[];
  /** `abort`: an interrupt aborts {@link CommandContext.signal} first. `own`: the command handles signals itself. Default: it ends the process. */
  readonly onInterrupt?: 'abort' | 'own';
  run(context: CommandContext, invocation: Invocation): Promise<Result>;
  /** The exit status of a failure, where it is not the error's own. */
  readonly exitStatusOf?: (error: unknown) => number;
}

/** A line of the command table. */
export interface CommandEntry {
  /** `checkpoints create` */
  readonly path: string;
  /** One line for the list of commands. */
  readonly summary: string;
  load(): Promise<CommandModule>;
}
