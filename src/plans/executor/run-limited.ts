/** Runs `work` on every item, at most `limit` at once; results in the order of the items. Waits for all before it throws the first error. */
export async function runLimited<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const errors: unknown[] = [];
  const waiting = items.entries();
  const worker = async () => {
    for (const [at, item] of waiting) {
      try {
        results[at] = await work(item);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(limit, items.length)) }, worker));
  if (errors.length > 0) throw errors[0];
  return results;
}
