import { ancestors, type DiskNode, type DiskTree, holdsSame, isBelow } from './disk-tree.ts';
import { outOfScope, type ReferenceRules, type Status } from './reference-scope.ts';

/** A moment as the model remembers it: the whole disk, what a capture makes of it, and the rules. */
export interface Moment {
  readonly tree: DiskTree;
  readonly statuses: ReadonlyMap<string, Status>;
  readonly rules: ReferenceRules;
  /** paths that a capture of some paths only was of; empty: everything */
  readonly selection: readonly string[];
  /** directories that were not listed, but looked at on their own */
  readonly partial: ReadonlySet<string>;
}

export interface ReferenceQuestion {
  readonly target: Moment;
  readonly present: Moment;
  /** of the checkpoints taken since the target */
  readonly between: readonly ReferenceRules[];
  readonly isSelected: (path: string) => boolean;
}

/** What a path has to become. `keep`: it is not known to be, or not asked to be, anything else than it is. */
type Wish = DiskNode | 'absent' | 'keep';

/** What a restore must leave behind, by the design's promises and section 8: paths to nodes, in the order of the present. */
export function expectedAfter(question: ReferenceQuestion): DiskTree {
  const { present, target } = question;
  const wishes = new Map<string, Wish>();
  for (const path of new Set([...target.tree.keys(), ...present.tree.keys()])) {
    wishes.set(path, wishFor(question, path));
  }
  const after = new Map(present.tree);
  remove(question, wishes, after);
  create(question, wishes, after);
  return after;
}

function wishFor(question: ReferenceQuestion, path: string): Wish {
  const { target, present, between, isSelected } = question;
  if (!isSelected(path) || !covers(target, path)) return 'keep';
  const status = target.statuses.get(path);
  const found = present.tree.get(path);
  const foundStatus = present.statuses.get(path);
  if (foundStatus === 'special' || found?.kind === 'special') return 'keep';
  if (status === 'stored') return target.tree.get(path) ?? 'keep';
  if (status !== undefined || found === undefined || !isKnownAbsent(target, path)) return 'keep';
  const isDirectory = found.kind === 'directory';
  const rules = [target.rules, present.rules, ...between];
  return rules.some((some) => outOfScope(some, path, isDirectory) !== undefined) ? 'keep' : 'absent';
}

/** A capture of some paths says nothing of the others. */
export function covers({ selection }: Moment, path: string): boolean {
  return selection.length === 0 || selection.some((top) => path === top || isBelow(path, top));
}

/** Absence is known where the nearest directory above that was there was listed, or was something else, and the rules had all between in scope. */
function isKnownAbsent({ statuses, tree, rules, partial }: Moment, path: string): boolean {
  if (tree.has(path)) return false;
  for (const directory of [...ancestors(path)].reverse()) {
    if (tree.has(directory)) return statuses.get(directory) === 'stored' && !partial.has(directory);
    if (outOfScope(rules, directory, true) !== undefined) return false;
  }
  return true;
}

/** Takes away what has to go: files first, then each directory in which nothing is left. Something else takes a directory's place only if all of it can go. */
function remove(
  { present }: ReferenceQuestion,
  wishes: Map<string, Wish>,
  after: Map<string, DiskNode>,
): void {
  const paths = [...present.tree.keys()].reverse();
  for (const path of paths) {
    const wish = wishes.get(path) ?? 'keep';
    const isReplaced = typeof wish === 'object' && wish.kind !== 'directory';
    if (present.tree.get(path)?.kind !== 'directory' || !isReplaced) continue;
    const below = paths.filter((other) => isBelow(other, path));
    if (below.every((other) => wishes.get(other) === 'absent')) continue;
    wishes.set(path, 'keep');
    for (const other of wishes.keys()) if (isBelow(other, path)) wishes.set(other, 'keep');
  }
  for (const path of paths) {
    const wish = wishes.get(path) ?? 'keep';
    const node = present.tree.get(path);
    if (wish === 'keep' || (typeof wish === 'object' && wish.kind === node?.kind)) continue;
    const isEmpty = ![...after.keys()].some((other) => isBelow(other, path));
    if (node?.kind !== 'directory' || isEmpty) after.delete(path);
  }
}

/** Puts in place what has to be there, parents first; a parent that is missing is made, one that is no directory is in the way. */
function create(question: ReferenceQuestion, wishes: Map<string, Wish>, after: Map<string, DiskNode>): void {
  const { target, present } = question;
  const wanted = [...wishes].filter((entry): entry is [string, DiskNode] => typeof entry[1] === 'object');
  for (const [path, node] of wanted.sort(([a], [b]) => (a < b ? -1 : 1))) {
    const blocked = [...ancestors(path)].some((directory) => {
      const there = after.get(directory);
      return there !== undefined && there.kind !== 'directory';
    });
    const stays = after.get(path);
    if (blocked || (stays !== undefined && stays.kind !== node.kind)) continue;
    if (stays !== undefined && holdsSame(stays, node)) continue;
    for (const directory of ancestors(path)) {
      if (!after.has(directory)) after.set(directory, newDirectory(target, present, directory));
    }
    after.set(path, node);
  }
}

/** A missing parent is made as the target had it, else like the nearest directory above. */
function newDirectory(target: Moment, present: Moment, path: string): DiskNode {
  const stored = target.statuses.get(path) === 'stored' ? target.tree.get(path) : undefined;
  if (stored?.kind === 'directory' && covers(target, path)) return stored;
  let mode = 0o755;
  for (const above of ancestors(path)) {
    const node = present.tree.get(above);
    if (node?.kind === 'directory' && present.statuses.get(above) === 'stored') {
      mode = (node.mode & 0o777) | 0o700;
    }
  }
  return { kind: 'directory', mode, content: '', size: 0, inode: 0n, mtimeNs: 0n };
}

/** A selection of literal names and of globs without classes; `known` tells which names are taken literally. */
export function selects(
  paths: readonly string[],
  known: (path: string) => boolean,
): (path: string) => boolean {
  if (paths.length === 0) return () => true;
  const tests = paths.map((name) => (known(name) ? (path: string) => path === name : globOf(name)));
  const matches = (path: string): boolean => tests.some((test) => test(path));
  return (path) => matches(path) || [...ancestors(path)].some(matches);
}

function globOf(pattern: string): (path: string) => boolean {
  const expression = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*\*\/|\*/g, (stars) => (stars === '*' ? '[^/]*' : '(?:.*/)?'));
  const compiled = new RegExp(`^${expression}$`, 's');
  return (path) => compiled.test(path);
}
