/**
 * Finds the line (from 1) on which a TOML document gives `key` (dotted), or the nearest table above it.
 * A plain scan of lines: good enough to point a person at the place, undefined where it is not sure.
 */
export function locateKey(text: string, key: string): number | undefined {
  const wanted = key.split('.');
  let table: readonly string[] = [];
  let nearest: { readonly line: number; readonly depth: number } | undefined;
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const header = /^\s*\[{1,2}\s*([^[\]]+?)\s*\]{1,2}/.exec(line);
    const assignment =
      /^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=/.exec(
        line,
      );
    if (header) table = splitKey(header[1] ?? '');
    else if (!assignment) continue;
    const here = header ? table : [...table, ...splitKey(assignment?.[1] ?? '')];
    const covers = here.length <= wanted.length && here.every((part, at) => part === wanted[at]);
    if (covers && here.length > (nearest?.depth ?? 0)) nearest = { line: index + 1, depth: here.length };
  }
  return nearest?.line;
}

function splitKey(text: string): readonly string[] {
  return text.split('.').map((part) => part.trim().replace(/^(["'])(.*)\1$/, '$2'));
}
