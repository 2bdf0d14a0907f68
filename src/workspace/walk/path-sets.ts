/** `has`, without hashing the path where the set is empty, as it mostly is. */
export function holds(paths: ReadonlySet<string>, path: string): boolean {
  return paths.size > 0 && paths.has(path);
}

/** Every directory above some paths, the root (`''`) among them where there is any. */
export function ancestors(paths: Iterable<string>): ReadonlySet<string> {
  const above = new Set<string>();
  for (const path of paths) {
    above.add('');
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) above.add(path.slice(0, at));
  }
  return above;
}
