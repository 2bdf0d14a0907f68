import { type LineEdit, lineEdits, linesWithEnds } from './line-edits.ts';

/** A stretch that both sides changed, each differently. Texts are whole lines. */
export interface MergeConflict {
  /** first line of the base it is about, from 1 */
  readonly line: number;
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

export type TextMerge =
  | { readonly kind: 'merged'; readonly text: string }
  /** `marked`: the merge with each conflict between `<<<<<<<`, `=======` and `>>>>>>>` lines */
  | { readonly kind: 'conflict'; readonly conflicts: readonly MergeConflict[]; readonly marked: string };

export type ByteMerge =
  | { readonly kind: 'merged'; readonly bytes: Uint8Array }
  | { readonly kind: 'conflict'; readonly conflicts: readonly MergeConflict[]; readonly marked: Uint8Array }
  /** a side is no text, and both sides changed */
  | { readonly kind: 'binary' };

export interface MergeLabels {
  readonly ours: string;
  readonly theirs: string;
}

const LABELS: MergeLabels = { ours: 'ours', theirs: 'theirs' };

/**
 * Merges two descendants of a text line by line (diff3, with git's rule that changes without an unchanged line between them touch).
 * Changes that touch and leave the same text on both sides are no conflict.
 *
 * @example mergeText('a\nb\nc\n', 'A\nb\nc\n', 'a\nb\nC\n') // { kind: 'merged', text: 'A\nb\nC\n' }
 */
export function mergeText(
  base: string,
  ours: string,
  theirs: string,
  labels: MergeLabels = LABELS,
): TextMerge {
  const lines = linesWithEnds(base);
  const merged: string[] = [];
  const conflicts: MergeConflict[] = [];
  let at = 0;
  for (const group of touchingEdits(
    lineEdits(lines, linesWithEnds(ours)),
    lineEdits(lines, linesWithEnds(theirs)),
  )) {
    merged.push(lines.slice(at, group.from).join(''));
    at = group.to;
    const left = applied(lines, group.from, group.to, group.ours);
    const right = applied(lines, group.from, group.to, group.theirs);
    if (group.theirs.length === 0 || left === right) merged.push(left);
    else if (group.ours.length === 0) merged.push(right);
    else {
      const before = lines.slice(group.from, group.to).join('');
      conflicts.push({ line: group.from + 1, base: before, ours: left, theirs: right });
      merged.push(
        `<<<<<<< ${labels.ours}\n`,
        ended(left),
        '=======\n',
        ended(right),
        `>>>>>>> ${labels.theirs}\n`,
      );
    }
  }
  merged.push(lines.slice(at).join(''));
  const text = merged.join('');
  return conflicts.length === 0 ? { kind: 'merged', text } : { kind: 'conflict', conflicts, marked: text };
}

/**
 * Merges the bytes of two descendants of a file. Where one side is unchanged or both are the same, any bytes will do;
 * otherwise all three must be UTF-8 without NUL, whose line ends and byte order marks are kept as they are.
 */
export function mergeBytes(
  base: Uint8Array,
  ours: Uint8Array,
  theirs: Uint8Array,
  labels: MergeLabels = LABELS,
): ByteMerge {
  if (isSame(base, theirs) || isSame(ours, theirs)) return { kind: 'merged', bytes: ours };
  if (isSame(base, ours)) return { kind: 'merged', bytes: theirs };
  const [a, b, c] = [textOf(base), textOf(ours), textOf(theirs)];
  if (a === undefined || b === undefined || c === undefined) return { kind: 'binary' };
  const merge = mergeText(a, b, c, labels);
  return merge.kind === 'merged'
    ? { kind: 'merged', bytes: Buffer.from(merge.text) }
    : { kind: 'conflict', conflicts: merge.conflicts, marked: Buffer.from(merge.marked) };
}

/** Edits of both sides that touch each other, over one stretch of the base. */
interface Touching {
  readonly from: number;
  readonly to: number;
  readonly ours: readonly LineEdit[];
  readonly theirs: readonly LineEdit[];
}

function* touchingEdits(ours: readonly LineEdit[], theirs: readonly LineEdit[]): Generator<Touching> {
  const queue = [
    ...ours.map((edit) => ({ edit, mine: true })),
    ...theirs.map((edit) => ({ edit, mine: false })),
  ].sort((a, b) => a.edit.at - b.edit.at || a.edit.deleted - b.edit.deleted);
  for (let next = 0; next < queue.length; ) {
    const group: typeof queue = [];
    let to = Number.NEGATIVE_INFINITY;
    for (
      let item = queue[next];
      item !== undefined && (group.length === 0 || item.edit.at <= to);
      item = queue[next]
    ) {
      group.push(item);
      to = Math.max(to, item.edit.at + item.edit.deleted);
      next += 1;
    }
    yield {
      from: group[0]?.edit.at ?? 0,
      to,
      ours: group.filter(({ mine }) => mine).map(({ edit }) => edit),
      theirs: group.filter(({ mine }) => !mine).map(({ edit }) => edit),
    };
  }
}

/** The stretch of the base from line `from` to `to` with edits made. */
function applied(lines: readonly string[], from: number, to: number, edits: readonly LineEdit[]): string {
  const result: string[] = [];
  let at = from;
  for (const edit of edits) {
    result.push(lines.slice(at, edit.at).join(''), edit.inserted.join(''));
    at = edit.at + edit.deleted;
  }
  result.push(lines.slice(at, to).join(''));
  return result.join('');
}

function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Undefined: no text. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
