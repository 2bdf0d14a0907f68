import { createTwoFilesPatch } from 'diff';
import type { Change } from '../../domain/diff.ts';
import { decodeName, quotePath } from '../../domain/rel-path.ts';
import type { Entry } from '../../domain/snapshot.ts';

/** Formats one change in git's extended diff format. A side that is `undefined` though its entry has content is binary or too large. */
export function formatPatch(change: Change, from: Buffer | undefined, to: Buffer | undefined): string {
  const sides = [change.from, change.to] as const;
  if (isDirectory(sides[0]) && isDirectory(sides[1])) return '';
  if (change.action === 'type' && !isDirectory(sides[0]) && !isDirectory(sides[1])) {
    return (
      formatOne(change, change.from, undefined, from, undefined) +
      formatOne(change, undefined, change.to, undefined, to)
    );
  }
  const old = isDirectory(sides[0]) ? undefined : sides[0];
  const next = isDirectory(sides[1]) ? undefined : sides[1];
  return old === undefined && next === undefined ? '' : formatOne(change, old, next, from, to);
}

function formatOne(
  change: Change,
  old: Entry | undefined,
  next: Entry | undefined,
  from: Buffer | undefined,
  to: Buffer | undefined,
): string {
  const a = quotePath(`a/${change.path}`);
  const b = quotePath(`b/${change.path}`);
  const head = [`diff --git ${a} ${b}`, ...modeLines(old, next)];
  if (sameContent(old, next)) return `${head.join('\n')}\n`;
  if (isOpaque(old, from) || isOpaque(next, to)) {
    return `${[...head, `Binary files ${old ? a : '/dev/null'} and ${next ? b : '/dev/null'} differ`].join('\n')}\n`;
  }
  const body = hunks(from ?? Buffer.alloc(0), to ?? Buffer.alloc(0));
  if (body === '') return `${head.join('\n')}\n`;
  return `${[...head, `--- ${old ? a : '/dev/null'}${tab(a)}`, `+++ ${next ? b : '/dev/null'}${tab(b)}`].join('\n')}\n${body}`;
}

/** git ends a name that holds a space with a tab in these lines. */
function tab(name: string): string {
  return name.includes(' ') && !name.startsWith('"') ? '\t' : '';
}

function modeLines(old: Entry | undefined, next: Entry | undefined): readonly string[] {
  if (old === undefined) return next === undefined ? [] : [`new file mode ${gitMode(next)}`];
  if (next === undefined) return [`deleted file mode ${gitMode(old)}`];
  return gitMode(old) === gitMode(next) ? [] : [`old mode ${gitMode(old)}`, `new mode ${gitMode(next)}`];
}

function gitMode(entry: Entry): string {
  if (entry.kind === 'symlink') return '120000';
  return entry.kind === 'file' && (entry.mode & 0o100) !== 0 ? '100755' : '100644';
}

function sameContent(a: Entry | undefined, b: Entry | undefined): boolean {
  return a?.kind === 'file' && b?.kind === 'file' && a.hash === b.hash;
}

function isDirectory(entry: Entry | undefined): boolean {
  return entry?.kind === 'directory';
}

/** Content that is not shown line by line: missing because too large, holding NUL, or not valid UTF-8. */
function isOpaque(entry: Entry | undefined, content: Buffer | undefined): boolean {
  if (entry === undefined) return false;
  return content === undefined || content.includes(0) || !decodeName(content).isWellFormed();
}

function hunks(from: Buffer, to: Buffer): string {
  const text = createTwoFilesPatch('a', 'b', from.toString('utf8'), to.toString('utf8'), '', '', {
    context: 3,
  });
  const start = text.indexOf('@@');
  return start < 0 ? '' : text.slice(start);
}
