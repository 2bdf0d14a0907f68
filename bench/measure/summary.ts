/** Several measurements of one thing. */
export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly samples: readonly number[];
}

/** @throws RangeError for no samples */
export function summarize(samples: readonly number[]): Summary {
  const sorted = samples.toSorted((a, b) => a - b);
  const [min, max] = [sorted.at(0), sorted.at(-1)];
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  if (min === undefined || max === undefined || low === undefined || high === undefined) {
    throw new RangeError('A summary needs at least one sample');
  }
  return { median: (low + high) / 2, min, max, samples };
}
