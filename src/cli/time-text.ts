/** `YYYY-MM-DD HH:MM:SS` in UTC, of an ISO 8601 time. */
export function timeText(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}
