/** Set by `npm run soak`: every test of this kind does far more. */
export const isSoak = process.env['WAYMARK_SOAK'] !== undefined;

/** How much to do: a little that finds most, or, in a soak, as much as is useful. */
export function scaled(inChecks: number, inSoak: number): number {
  return isSoak ? inSoak : inChecks;
}

/** A new seed every time, or the one in `WAYMARK_SEED`, which repeats a run. */
export function testSeed(): number {
  return Number(process.env['WAYMARK_SEED'] ?? Date.now() % 2 ** 31);
}
