/** Set by `npm run soak`: every test of this kind does far more. */
export const isSoak = process.env['WAYMARK_SOAK'] !== undefined;

/** How much to do: a little that finds most, or, in a soak, as much as is useful. */
export function scaled(inChecks: number, inSoak: number): number {
  return isSoak ? inSoak : inChecks;
}

/** The checks play the same scenarios every time; a soak plays new ones. `WAYMARK_SEED` repeats a run, its seed is printed. */
export function testSeed(): number {
  return Number(process.env['WAYMARK_SEED'] ?? (isSoak ? Date.now() % 2 ** 31 : 20_261_201));
}
