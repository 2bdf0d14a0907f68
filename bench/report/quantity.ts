/** A measured value for people: `38 ms`, `4.1 s`, `12 KiB`, `93 MB`. */
export function quantity(value: number, unit: 'ms' | 'bytes'): string {
  if (unit === 'ms') return value < 10_000 ? `${digits(value)} ms` : `${digits(value / 1000)} s`;
  if (Math.abs(value) < 1e6) return `${digits(value / 1024)} KiB`;
  return `${digits(value / 1e6)} MB`;
}

function digits(value: number): string {
  return value.toFixed(Math.abs(value) < 10 ? 1 : 0);
}
