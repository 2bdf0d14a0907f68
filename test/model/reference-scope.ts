import { type DiskNode, type DiskTree, isBelow, nameOf } from './disk-tree.ts';
import { isIgnored, lastMatch, type ReferenceIgnoreFile } from './reference-ignore.ts';

/** What decides over the scope of one capture, as the model keeps it. */
export interface ReferenceRules {
  readonly maxFileBytes: number;
  readonly maxTotalBytes: number;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly ignoreFiles: readonly ReferenceIgnoreFile[];
  /** what the project's git index lists */
  readonly tracked: ReadonlySet<string>;
}

export type OutOfScope = 'unseen' | 'secret' | 'pruned' | 'ignored';

const PRUNED: ReadonlySet<string> = new Set(
  '.waymark .vak node_modules target dist build .next __pycache__ venv .venv'.split(' '),
);
const PRUNED_FILES: ReadonlySet<string> = new Set('.DS_Store store.db store.db-wal store.db-shm'.split(' '));

function isSecret(name: string): boolean {
  return (
    /^(\.env|id_rsa|id_ed25519)/i.test(name) ||
    /\.(pem|key)$/i.test(name) ||
    /^credentials\.json$/i.test(name)
  );
}

/** Why a path is out of scope by rule, from the design's section 5 alone; undefined: it is in scope. Ancestors count as directories. */
export function outOfScope(
  rules: ReferenceRules,
  path: string,
  isDirectory: boolean,
): OutOfScope | undefined {
  let hidden: OutOfScope | undefined;
  let excluded = false;
  const parts = path.split('/');
  for (let length = 1; length <= parts.length; length += 1) {
    const at = parts.slice(0, length).join('/');
    const name = parts[length - 1] ?? '';
    const subject = { path: at, isDirectory: length < parts.length || isDirectory };
    if (name.toLowerCase() === '.git') return 'unseen';
    if (isSecret(name)) return 'secret';
    if (lastMatch(rules.exclude, subject) === true) excluded = true;
    if (excluded || hidden !== undefined) continue;
    const fixed = subject.isDirectory ? PRUNED.has(name) : PRUNED_FILES.has(name) || name.endsWith('.pyc');
    if (fixed && lastMatch(rules.include, subject) !== true) hidden = 'pruned';
    else if (isIgnored(rules.ignoreFiles, subject)) hidden = 'ignored';
  }
  if (excluded) return 'pruned';
  if (hidden === undefined) return undefined;
  const rescued = isDirectory
    ? [...rules.tracked].some((tracked) => isBelow(tracked, path))
    : rules.tracked.has(path);
  return rescued ? undefined : hidden;
}

/** What a capture says of a path that it met. */
export type Status = 'stored' | 'secret' | 'pruned' | 'ignored' | 'special' | 'over_cap' | 'over_total';

/** Says of every path that a capture meets what it makes of it. Paths below what it does not enter are not in the answer. */
export function classify(tree: DiskTree, rules: ReferenceRules): Map<string, Status> {
  const statuses = new Map<string, Status>();
  const closed: string[] = [];
  for (const [path, node] of tree) {
    if (closed.some((directory) => isBelow(path, directory))) continue;
    const reason = outOfScope(rules, path, node.kind === 'directory');
    if (reason !== 'unseen') statuses.set(path, reason ?? statusOf(node, rules));
    if (reason !== undefined && node.kind === 'directory') closed.push(path);
  }
  return statuses;
}

function statusOf(node: DiskNode, rules: ReferenceRules): Status {
  if (node.kind === 'special') return 'special';
  return node.kind === 'file' && node.size > rules.maxFileBytes ? 'over_cap' : 'stored';
}

export function isPruned(name: string): boolean {
  return PRUNED.has(nameOf(name));
}
