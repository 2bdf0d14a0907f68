const cell = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the thread for `ms`. */
export function sleepSync(ms: number): void {
  Atomics.wait(cell, 0, 0, ms);
}

/** A growing pause with jitter, in ms, before attempt number `attempt` (from 1): about 1, 2, 4 … at most 25. */
export function backoff(attempt: number): number {
  return Math.min(25, 2 ** (attempt - 1)) * (0.5 + Math.random());
}
