/** The wall clock and the only source of it. */
export interface Clock {
  /** ms since the epoch */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** UTC, ISO 8601 with milliseconds. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
