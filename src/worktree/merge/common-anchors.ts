/**
 * Pairs of positions of lines that occur exactly once on both sides, ascending on both: the longest such sequence
 * (patience diff, after Bram Cohen).
 */
export function commonAnchors(
  from: readonly string[],
  to: readonly string[],
): readonly (readonly [number, number])[] {
  const right = uniquePositions(to);
  const pairs: (readonly [number, number])[] = [];
  for (const [line, at] of uniquePositions(from)) {
    const other = right.get(line);
    if (other !== undefined) pairs.push([at, other]);
  }
  return longestAscending(pairs.sort((a, b) => a[0] - b[0]));
}

function uniquePositions(lines: readonly string[]): ReadonlyMap<string, number> {
  const seen = new Map<string, number>();
  for (const [at, line] of lines.entries()) seen.set(line, seen.has(line) ? -1 : at);
  return new Map([...seen].filter(([, at]) => at >= 0));
}

/** Patience sorting: the last pair of each pile, with the pair before it. */
function longestAscending(
  pairs: readonly (readonly [number, number])[],
): readonly (readonly [number, number])[] {
  interface Card {
    readonly pair: readonly [number, number];
    readonly before: Card | undefined;
  }
  const piles: Card[] = [];
  for (const pair of pairs) {
    let [low, high] = [0, piles.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((piles[middle]?.pair[1] ?? 0) < pair[1]) low = middle + 1;
      else high = middle;
    }
    piles[low] = { pair, before: piles[low - 1] };
  }
  const sequence: (readonly [number, number])[] = [];
  for (let card = piles.at(-1); card !== undefined; card = card.before) sequence.push(card.pair);
  return sequence.reverse();
}
