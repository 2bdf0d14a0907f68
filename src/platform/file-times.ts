/**
 * Chooses the number of seconds by which Node's `utimes` family comes nearest to a time in ns.
 *
 * Node passes times as a double, and libuv cuts off what lies below the nanosecond. Neighbouring doubles lie 238 ns apart from 2004 to 2038
 * (half of that before, twice that until 2106), so the nearest one misses by 119 ns at most. Whole seconds are hit.
 */
export function nearestSeconds(ns: bigint): number {
  const guess = Number(ns) / 1e9;
  let best = guess;
  for (const candidate of [neighbour(guess, -1), neighbour(guess, 1)]) {
    if (missOf(candidate, ns) < missOf(best, ns)) best = candidate;
  }
  return best;
}

/** The time, in ns, that a file has after `utimes` was asked for `ns`, on a file system that keeps nanoseconds. */
export function reachableTime(ns: bigint): bigint {
  return inNanoseconds(nearestSeconds(ns));
}

/** What libuv makes of a number of seconds. */
function inNanoseconds(seconds: number): bigint {
  const whole = Math.trunc(seconds);
  return BigInt(whole) * 1_000_000_000n + BigInt(Math.trunc((seconds - whole) * 1e9));
}

function missOf(seconds: number, ns: bigint): bigint {
  const miss = inNanoseconds(seconds) - ns;
  return miss < 0n ? -miss : miss;
}

/** The double next to `value`, in steps of its last binary digit. */
function neighbour(value: number, step: -1 | 1): number {
  const bits = new BigInt64Array(1);
  const floats = new Float64Array(bits.buffer);
  floats[0] = value;
  bits[0] = (bits[0] ?? 0n) + BigInt(value < 0 ? -step : step);
  const [next = value] = floats;
  return Number.isFinite(next) ? next : value;
}
