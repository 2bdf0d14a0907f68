/** `1 file`, `3 files`; a plural that is not the noun with an s is given. */
export function countText(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
