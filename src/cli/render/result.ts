import type { Block } from './block.ts';

/** What a command has to say. Printed by format: `data` as JSON or YAML, `blocks` as text; only the one that is needed is made. */
export interface Result {
  /** Undefined: the command has printed everything itself. */
  readonly data?: () => unknown;
  readonly blocks?: () => readonly Block[];
  /** What `plain` prints where it is not the blocks. */
  readonly plain?: () => readonly Block[];
  /** Lines on standard error, whatever the format: warnings. */
  readonly warnings?: readonly string[];
  /** Lines on standard error beside text formats: hints. */
  readonly notes?: readonly string[];
  /** Default 0. */
  readonly exitStatus?: number;
}
