import type { Scene } from '../scene.ts';

export const ENGINES = ['cas', 'git'] as const;
export type Engine = (typeof ENGINES)[number];

/** What one measurement gave. */
export interface Sample {
  /** in the row's unit */
  readonly value: number;
  /** processor time, ms: what does not depend on who else uses the machine */
  readonly cpuMs?: number;
}

/** One line of the table: the same work done by Waymark and by what it is measured against. */
export interface Row {
  /** as in `--rows` */
  readonly name: string;
  readonly work: string;
  /** what the other side does */
  readonly against: string;
  readonly unit: 'ms' | 'bytes';
  /** What `must` and `aim` are: ours divided by the other's, or ours alone. */
  readonly bound: 'ratio' | 'value';
  readonly must: number;
  readonly aim: number;
  readonly engines: readonly Engine[];
  /** Begins with an empty home, so that a longer history changes nothing. */
  readonly fresh: boolean;
  /** Measured at most so often: what hardly varies, or lasts long. */
  readonly maxRounds?: number;
  /** What happens before each round, for all sides together. */
  readonly prepare?: (scene: Scene) => void;
  /** Does the work once and gives what it took. Throws where the work was not done. */
  readonly ours: (scene: Scene, engine: Engine) => Promise<Sample>;
  readonly git?: (scene: Scene) => Promise<Sample>;
}
