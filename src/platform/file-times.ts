/**
 * Chooses the number of seconds by which Node's `utimes` family comes nearest to a time in ns.
 *
 * Node passes times as a double, and libuv cuts what lies behind the nanosecond off. Between 2004 and 2038 neighbouring
 * doubles lie 238 ns apart, so the nearest one misses by 119 ns at most; whole and half milliseconds mostly miss, whole seconds never.
 */
export function nearestSeconds(ns: bigint): number {
  const guess = Number(ns) / 1e9;
  let best = guess;
  let smallest = missOf(guess, ns);
  for (const candidate of [neighbour(guess, -1), neighbour(guess, 1)]) {
    const miss = missOf(candidate, ns);
    if (miss < smallest) {
      best = candidate;
      smallest = miss;
    }
  }
  return best;
}

function missOf(seconds: number, ns: bigint): bigint {
  const whole = Math.trunc(seconds);
  const miss = BigInt(whole) * 1_000_000_000n + BigInt(Math.trunc((seconds - whole) * 1e9)) - ns;
  return miss < 0n ? -miss : miss;
}

/** The double next to `value`, in steps of its last binary digit. */
function neighbour(value: number, step: -1 | 1): number {
  const bits = new BigInt64Array(1);
  const floats = new Float64Array(bits.buffer);
  floats[0] = value;
  bits[0] = (bits[0] ?? 0n) + BigInt(value < 0 ? -step : step);
  return Number.isFinite(floats[0]) ? floats[0] : value;
}
