import { isBelow, nameOf, parentOf } from './disk-tree.ts';

/** An ignore file: the directory its patterns are relative to, which kind it is, and its lines. */
export interface ReferenceIgnoreFile {
  readonly directory: string;
  readonly kind: (typeof IGNORE_KINDS)[number];
  readonly lines: readonly string[];
}

/** A `.waymarkignore` decides before any `.gitignore`, `info/exclude` last. */
export const IGNORE_KINDS = ['.waymarkignore', '.gitignore', 'info/exclude'] as const;

/** A path and whether it is, or counts as, a directory. */
export interface Subject {
  readonly path: string;
  readonly isDirectory: boolean;
}

/** Tells whether ignore files ignore a path, looking at this path alone: within a kind the deepest file decides first, its last match wins. */
export function isIgnored(files: readonly ReferenceIgnoreFile[], subject: Subject): boolean {
  for (const kind of IGNORE_KINDS) {
    const own = files
      .filter((file) => file.kind === kind && isBelow(subject.path, file.directory))
      .sort((a, b) => b.directory.length - a.directory.length);
    for (const { directory, lines } of own) {
      const verdict = lastMatch(lines, subject, directory);
      if (verdict !== undefined) return verdict;
    }
  }
  return false;
}

/** True: matched and ignored; false: matched by a negated pattern; undefined: not matched. Paths are relative to `directory`. */
export function lastMatch(
  lines: readonly string[],
  { path, isDirectory }: Subject,
  directory = '',
): boolean | undefined {
  const relative = directory === '' ? path : path.slice(directory.length + 1);
  for (const line of lines.toReversed()) {
    if (line === '' || line.startsWith('#')) continue;
    const negated = line.startsWith('!');
    const body = negated ? line.slice(1) : line;
    const pattern = body.replace(/\/$/, '');
    if (body.endsWith('/') && !isDirectory) continue;
    const anchored = pattern.includes('/');
    const expression = new RegExp(`^${toExpression(pattern.replace(/^\//, ''))}$`, 's');
    if (expression.test(anchored ? relative : nameOf(relative))) return !negated;
  }
  return undefined;
}

/** The wildcards that the model's patterns use: `*`, `?`, `**` as a component, and classes without escapes. */
function toExpression(pattern: string): string {
  let expression = '';
  for (let at = 0; at < pattern.length; at += 1) {
    const rest = pattern.slice(at);
    if (rest.startsWith('**/') && (at === 0 || pattern[at - 1] === '/')) {
      expression += '(?:.*/)?';
      at += 2;
    } else if (rest === '**') {
      expression += '.*';
      at += 1;
    } else if (pattern[at] === '*') expression += '[^/]*';
    else if (pattern[at] === '?') expression += '[^/]';
    else if (pattern[at] === '[') {
      const end = pattern.indexOf(']', at);
      expression += pattern.slice(at, end + 1);
      at = end;
    } else expression += pattern.slice(at, at + 1).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  }
  return expression;
}

/** Where an ignore file lies, or undefined for any other path. */
export function ignoreFileAt(path: string): Pick<ReferenceIgnoreFile, 'directory' | 'kind'> | undefined {
  const name = nameOf(path);
  if (name === '.gitignore' || name === '.waymarkignore') return { directory: parentOf(path), kind: name };
  return path === '.git/info/exclude' ? { directory: '', kind: 'info/exclude' } : undefined;
}
