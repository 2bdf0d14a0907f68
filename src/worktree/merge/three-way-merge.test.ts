import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { mergeBytes, mergeText } from './three-way-merge.ts';

const line = fc.constantFrom('a\n', 'b\n', 'c\n', '\n', '}\n', 'x\r\n');
const text = fc
  .tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom('', 'end'))
  .map(([lines, end]) => lines.join('') + end);

/** Ten to thirty distinct lines, and a copy with some of them replaced, removed or followed by new ones. */
const base = fc
  .integer({ min: 10, max: 30 })
  .map((count) => Array.from({ length: count }, (_, at) => `line ${at}\n`));
const edit = fc.record({
  at: fc.nat(29),
  kind: fc.constantFrom('replace', 'remove', 'insert'),
  what: fc.constantFrom('one\n', 'two\n', 'three\n'),
});
const edits = fc.array(edit, { maxLength: 3 });

function edited(
  lines: readonly string[],
  changes: readonly { at: number; kind: string; what: string }[],
): string {
  return lines
    .map((original, at) => {
      const change = changes.find((one) => one.at === at);
      if (change === undefined) return original;
      return change.kind === 'remove' ? '' : change.kind === 'insert' ? original + change.what : change.what;
    })
    .join('');
}

describe('mergeText()', () => {
  test('takes both sides’ changes where an unchanged line lies between them', () => {
    expect(mergeText('a\nb\nc\n', 'A\nb\nc\n', 'a\nb\nC\n')).toEqual({ kind: 'merged', text: 'A\nb\nC\n' });
    expect(mergeText('a\nb\nc\n', 'b\nc\n', 'a\nb\nc\nd')).toEqual({ kind: 'merged', text: 'b\nc\nd' });
  });

  test('changes without one between them conflict, with markers', () => {
    expect(mergeText('a\nb\nc\n', 'a\nB\nc\n', 'a\nb\nC\n')).toMatchObject({ kind: 'conflict' });
    expect(mergeText('a\nb\nc\n', 'a\nX\nc\n', 'a\nY\nc\n', { ours: 'here', theirs: 'run' })).toEqual({
      kind: 'conflict',
      conflicts: [{ line: 2, base: 'b\n', ours: 'X\n', theirs: 'Y\n' }],
      marked: 'a\n<<<<<<< here\nX\n=======\nY\n>>>>>>> run\nc\n',
    });
  });

  test('the same change on both sides is no conflict', () => {
    expect(mergeText('a\nb\n', 'a\nX\n', 'a\nX\n')).toEqual({ kind: 'merged', text: 'a\nX\n' });
    expect(mergeText('', 'new\n', 'new\n')).toEqual({ kind: 'merged', text: 'new\n' });
  });

  test('two files added at the same place conflict', () => {
    expect(mergeText('', 'one\n', 'two\n')).toMatchObject({
      kind: 'conflict',
      conflicts: [{ line: 1, base: '' }],
    });
  });

  test('with one side unchanged gives the other', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(mergeText(a, a, b)).toEqual({ kind: 'merged', text: b });
        expect(mergeText(a, b, a)).toEqual({ kind: 'merged', text: b });
        expect(mergeText(a, b, b)).toEqual({ kind: 'merged', text: b });
      }),
    );
  });

  test('does not depend on the order of the sides', () => {
    fc.assert(
      fc.property(text, text, text, (a, b, c) => {
        const [one, other] = [mergeText(a, b, c), mergeText(a, c, b)];
        expect(one.kind).toBe(other.kind);
        if (one.kind === 'merged') expect(one).toEqual(other);
      }),
    );
  });

  test('agrees with git merge-file', () => {
    using place = temporaryDirectory();
    const names = ['ours', 'base', 'theirs'].map((name) => join(place.path, name));
    fc.assert(
      fc.property(base, edits, edits, (lines, left, right) => {
        const [ours, original, theirs] = [edited(lines, left), lines.join(''), edited(lines, right)];
        for (const [at, content] of [ours, original, theirs].entries())
          writeFileSync(names[at] ?? '', content);
        const git = spawnSync('git', ['merge-file', '-p', '--quiet', ...names]);
        const merge = mergeText(original, ours, theirs);
        expect(merge.kind).toBe(git.status === 0 ? 'merged' : 'conflict');
        if (merge.kind === 'merged') expect(merge.text).toBe(git.stdout.toString());
      }),
      { numRuns: 150 },
    );
  });

  test('thousands of scattered changes on both sides merge', () => {
    const lines = Array.from({ length: 20_000 }, (_, at) => `line ${at}\n`);
    const replacedAt = (remainder: number) =>
      lines.map((one, at) => (at % 8 === remainder ? `new ${at}\n` : one)).join('');
    const expected = lines.map((one, at) => (at % 8 === 0 || at % 8 === 4 ? `new ${at}\n` : one)).join('');
    expect(mergeText(lines.join(''), replacedAt(0), replacedAt(4))).toEqual({
      kind: 'merged',
      text: expected,
    });
  });

  test('a long file', () => {
    const long = 'x\n'.repeat(300_000);
    expect(mergeText(long, `first\n${long}`, `${long}last\n`)).toEqual({
      kind: 'merged',
      text: `first\n${long}last\n`,
    });
    expect(mergeText('', long, '')).toEqual({ kind: 'merged', text: long });
  });

  test('a file of which every line changed is merged at once', () => {
    const many = (word: string) => Array.from({ length: 20_000 }, (_, at) => `${word} ${at}\n`).join('');
    expect(mergeText(many('a'), many('b'), `${many('a')}more\n`)).toMatchObject({ kind: 'conflict' });
    expect(mergeText(many('a'), many('b'), many('a'))).toEqual({ kind: 'merged', text: many('b') });
  });
});

describe('mergeBytes()', () => {
  const bytes = (content: string) => Buffer.from(content, 'latin1');

  test('keeps CRLF and byte order marks', () => {
    const merged = mergeBytes(
      Buffer.from('\ufeffa\r\nb\r\nc\r\n'),
      Buffer.from('\ufeffA\r\nb\r\nc\r\n'),
      Buffer.from('\ufeffa\r\nb\r\nC\r\n'),
    );
    expect(merged).toEqual({ kind: 'merged', bytes: Buffer.from('\ufeffA\r\nb\r\nC\r\n') });
  });

  test.each([
    ['NUL bytes', 'a\n\0b\nc\n'],
    ['invalid UTF-8', 'a\n\xffb\nc\n'],
    ['a lone lead byte', 'a\n\xc3'],
  ])('does not merge %s that both sides changed', (_, content) => {
    const other = Buffer.concat([bytes(content), bytes('more\n')]);
    const third = Buffer.concat([bytes('first\n'), bytes(content)]);
    expect(mergeBytes(bytes(content), other, third)).toEqual({ kind: 'binary' });
    expect(mergeBytes(bytes('text\n'), bytes(content), bytes('other\n'))).toEqual({ kind: 'binary' });
    expect(mergeBytes(bytes(content), bytes(content), other)).toEqual({ kind: 'merged', bytes: other });
    expect(mergeBytes(bytes(content), other, other)).toEqual({ kind: 'merged', bytes: other });
  });
});
