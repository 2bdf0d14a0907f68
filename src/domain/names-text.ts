/** Joins names with commas: at most `most` of them, and how many more there are of `total`. */
export function namesText(names: readonly string[], most = 5, total = names.length): string {
  const named = names.slice(0, most);
  return named.join(', ') + (total > named.length ? `, and ${total - named.length} more` : '');
}
