import { monotonicFactory } from 'ulid';
import type { Clock } from './clock.ts';

export interface Ids {
  /** A new ULID, upper case; each sorts after all earlier ones of this source, also when the clock stands or steps back. */
  ulid(): string;
}

/** Creates a source of ids. `random` gives numbers in [0, 1); the default is cryptographic. */
export function createIds(clock: Clock, random?: () => number): Ids {
  const next = monotonicFactory(random);
  return { ulid: () => next(clock.now()) };
}
