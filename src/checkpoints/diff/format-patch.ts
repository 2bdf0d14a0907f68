import { createTwoFilesPatch } from 'diff';
import type { Change } from '../../domain/diff.ts';
import { decodeName, quotePath } from '../../domain/rel-path.ts';
import type { Entry } from '../../domain/snapshot.ts';
import { binaryPatch, indexLine } from './git-binary-patch.ts';
import { gitMode, isDirectory } from './git-mode.ts';

/** Files larger than this are replaced as a whole, not compared line by line, bytes. */
const MAX_COMPARED = 1024 ** 2;

/**
 * Formats one change as `git apply` takes it, in pieces; nothing for what a patch cannot hold (`unpatchable`).
 * `from` and `to` are the contents of the sides that have any.
 */
export function* formatPatch(
  change: Change,
  from: Buffer | undefined,
  to: Buffer | undefined,
): Generator<string> {
  const { path } = change;
  const old = isDirectory(change.from) ? undefined : change.from;
  const next = isDirectory(change.to) ? undefined : change.to;
  if (old !== undefined && next !== undefined && old.kind !== next.kind) {
    yield* formatOne(path, old, undefined, from, undefined);
    yield* formatOne(path, undefined, next, undefined, to);
  } else yield* formatOne(path, old, next, from, to);
}

function* formatOne(
  path: string,
  old: Entry | undefined,
  next: Entry | undefined,
  from: Buffer | undefined,
  to: Buffer | undefined,
): Generator<string> {
  const same = sameContent(old, next);
  if (same && gitMode(old) === gitMode(next)) return;
  if (!same && (isMissing(old, from) || isMissing(next, to))) return;
  const a = quotePath(`a/${path}`);
  const b = quotePath(`b/${path}`);
  yield `diff --git ${a} ${b}\n${modeLines(old, next)}`;
  if (same) return;
  if (isOpaque(from) || isOpaque(to)) {
    yield indexLine(from, to);
    yield* binaryPatch(from, to);
    return;
  }
  const body = hunks(from ?? Buffer.alloc(0), to ?? Buffer.alloc(0));
  if (body === '') return;
  yield `--- ${old ? a : '/dev/null'}${tab(a)}\n+++ ${next ? b : '/dev/null'}${tab(b)}\n`;
  yield body;
}

/** git ends a name that holds a space with a tab in these lines. */
function tab(name: string): string {
  return name.includes(' ') && !name.startsWith('"') ? '\t' : '';
}

function modeLines(old: Entry | undefined, next: Entry | undefined): string {
  if (old === undefined) return `new file mode ${gitMode(next)}\n`;
  if (next === undefined) return `deleted file mode ${gitMode(old)}\n`;
  return gitMode(old) === gitMode(next) ? '' : `old mode ${gitMode(old)}\nnew mode ${gitMode(next)}\n`;
}

function sameContent(a: Entry | undefined, b: Entry | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.kind === 'file' && b.kind === 'file' && a.hash === b.hash;
}

function isMissing(entry: Entry | undefined, content: Buffer | undefined): boolean {
  return entry !== undefined && content === undefined;
}

/** Content that is not shown line by line: too large, holding NUL, or not valid UTF-8. */
function isOpaque(content: Buffer | undefined): boolean {
  if (content === undefined) return false;
  return content.length > MAX_COMPARED || content.includes(0) || !decodeName(content).isWellFormed();
}

function hunks(from: Buffer, to: Buffer): string {
  const text = createTwoFilesPatch('a', 'b', from.toString('utf8'), to.toString('utf8'), '', '', {
    context: 3,
  });
  const start = text.indexOf('@@');
  return start < 0 ? '' : text.slice(start);
}
