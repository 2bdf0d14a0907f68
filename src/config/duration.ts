const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/**
 * Reads a duration such as `30d`, `12h`, `90 s` or `500ms`; the unit is required.
 *
 * @returns whole milliseconds, or undefined where the text is no duration or is beyond 2^53
 */
export function parseDuration(text: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)\s*$/.exec(text);
  const unit = UNITS[match?.[2] ?? ''];
  if (!match || unit === undefined) return undefined;
  const ms = Math.round(Number(match[1]) * unit);
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/** Prints milliseconds in the largest unit that divides them: `30d`, `90s`. */
export function formatDuration(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's']) {
    const size = UNITS[unit] ?? 1;
    if (ms > 0 && ms % size === 0) return `${ms / size}${unit}`;
  }
  return `${ms}ms`;
}
