const UNITS: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
  tib: 1024 ** 4,
};

/**
 * Reads a size such as `8MiB`, `1.5 GB` or `4096` (bytes); units in any letter case.
 *
 * @returns whole bytes, or undefined where the text is no size or is beyond 2^53
 */
export function parseByteSize(text: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(text);
  const unit = UNITS[(match?.[2] || 'b').toLowerCase()];
  if (!match || unit === undefined) return undefined;
  const bytes = Math.round(Number(match[1]) * unit);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Prints bytes with one decimal at most: `812 B`, `8 MiB`, `1.5 GiB`. */
export function formatByteSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const names = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let name = 'B';
  for (const next of names) {
    if (value < 1024) break;
    value /= 1024;
    name = next;
  }
  return `${Number(value.toFixed(value < 100 ? 1 : 0))} ${name}`;
}
