/** Does something with each item, at most `count` at a time. The first failure ends it once those under way have ended. */
export async function atMost<T>(
  count: number,
  items: readonly T[],
  body: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) await body(item);
  };
  const results = await Promise.allSettled(Array.from({ length: count }, worker));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** At most `count` of the numbers below `below`, evenly spread, the first and the last among them. */
export function spread(below: number, count: number): readonly number[] {
  if (below <= count) return Array.from({ length: below }, (_, n) => n);
  return Array.from({ length: count }, (_, n) => Math.round((n * (below - 1)) / (count - 1)));
}
