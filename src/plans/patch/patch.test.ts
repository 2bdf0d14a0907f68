import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyHunks } from './apply-hunks.ts';
import { bytesOf, linesOf } from './file-patch.ts';
import { parsePatch } from './parse-patch.ts';

function apply(old: string, patch: string): string {
  const [file] = parsePatch(patch);
  return bytesOf(applyHunks('f', linesOf(Buffer.from(old)), file?.hunks ?? [])).toString();
}

describe('applyHunks()', () => {
  const patch = '--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n';

  test('applies where the hunk says', () => {
    expect(apply('one\ntwo\nthree\nfour\n', patch)).toBe('one\nTWO\nthree\nfour\n');
  });

  test('takes no offset and says where the lines are', () => {
    expect(() => apply('zero\none\ntwo\nthree\n', patch)).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR', hint: expect.stringContaining('line 2') }),
    );
  });

  test.each(['one\ntwo \nthree\n', 'one\r\ntwo\r\nthree\r\n', 'one\ntwo\nthree', '', 'one\n'])(
    'takes no fuzz: %j',
    (old) => {
      expect(() => apply(old, patch)).toThrow(/does not fit/);
    },
  );

  test('keeps and changes the missing line end', () => {
    const ends = '--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n';
    expect(apply('x', ends)).toBe('y\n');
    expect(() => apply('x\n', ends)).toThrow(/does not fit/);
    const drops = '--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y\n\\ No newline at end of file\n';
    expect(apply('x\n', drops)).toBe('y');
  });

  test('does what git apply does', () => {
    const dir = mkdtempSync(join(tmpdir(), 'waymark-patch-'));
    try {
      const lines = fc.array(fc.constantFrom('a', 'b', 'c', '', ' x', 'é', '\t'), { maxLength: 12 });
      fc.assert(
        fc.property(lines, lines, fc.boolean(), fc.boolean(), (from, to, endFrom, endTo) => {
          const old = from.join('\n') + (endFrom && from.length > 0 ? '\n' : '');
          const wanted = to.join('\n') + (endTo && to.length > 0 ? '\n' : '');
          fc.pre(old !== wanted && old !== '' && wanted !== '');
          writeFileSync(join(dir, 'old'), old);
          writeFileSync(join(dir, 'new'), wanted);
          const diff = gitDiff(dir);
          expect(apply(old, diff)).toBe(wanted);
        }),
        { numRuns: 40 },
      );
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});

function gitDiff(cwd: string): string {
  try {
    execFileSync('git', ['diff', '--no-index', '--', 'old', 'new'], { cwd, encoding: 'utf8' });
  } catch (error) {
    return (error as { stdout: string }).stdout.replaceAll('a/old', 'a/f').replaceAll('b/new', 'b/f');
  }
  throw new Error('no difference');
}

describe('parsePatch()', () => {
  test('reads creations, deletions, renames, copies and modes', () => {
    const files = parsePatch(
      [
        'From 1234 Mon Sep 17',
        'Subject: [PATCH] x',
        '---',
        ' a | 2 +-',
        '',
        'diff --git a/new b/new',
        'new file mode 100755',
        'index 0000000..1111111',
        '--- /dev/null',
        '+++ b/new',
        '@@ -0,0 +1 @@',
        '+hi',
        'diff --git a/empty b/empty',
        'new file mode 100644',
        'index 0000000..e69de29',
        'diff --git a/old b/old',
        'deleted file mode 100644',
        '--- a/old',
        '+++ /dev/null',
        '@@ -1 +0,0 @@',
        '-x',
        'diff --git a/p b/q',
        'similarity index 100%',
        'rename from p',
        'rename to q',
        'diff --git a/run me b/run me',
        'old mode 100644',
        'new mode 100755',
        'diff --git "a/t\\303\\251" "b/t\\303\\251"',
        '--- "a/t\\303\\251"',
        '+++ "b/t\\303\\251"',
        '@@ -1 +1 @@',
        '-x',
        '+y',
        '-- ',
        '2.39.2',
      ].join('\n'),
    );
    expect(files.map(({ action, from, to, executable }) => [action, from, to, executable])).toEqual([
      ['create', undefined, 'new', true],
      ['create', undefined, 'empty', false],
      ['delete', 'old', undefined, undefined],
      ['rename', 'p', 'q', undefined],
      ['modify', 'run me', 'run me', true],
      ['modify', 'té', 'té', undefined],
    ]);
  });

  test('reads plain diffs with timestamps and without prefixes', () => {
    const [file] = parsePatch('--- dir/f\t2024-01-01\n+++ dir/f\t2024-01-02\n@@ -1 +1 @@\n-a\n+b\n');
    expect(file).toMatchObject({ action: 'modify', from: 'dir/f', to: 'dir/f' });
    const [same] = parsePatch('--- a/f\n+++ a/f\n@@ -1 +1 @@\n-a\n+b\n');
    expect(same).toMatchObject({ from: 'a/f', to: 'a/f' });
  });

  test('takes an empty context line whose space was stripped', () => {
    expect(apply('a\n\nb\n', '--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n')).toBe('a\n\nc\n');
  });

  test.each([
    ['', /changes no file/],
    ['hello', /changes no file/],
    ['@@ -1 +1 @@\n-a\n+b\n', /hunk without a file/],
    ['--- a/f\n+++ b/f\n@@ -1,2 +1 @@\n-a\n+b\n', /ends early/],
    ['--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n+c\n', /beyond the hunk/],
    ['--- a/f\n+++ b/f\n@@ -5 +5 @@\n-a\n+b\n@@ -1 +1 @@\n-a\n+b\n', /out of order/],
    ['--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n', /two names/],
    ['--- a/f\n+++ b/f\n@@ nonsense @@\n-a\n+b\n', /bad hunk header/],
  ])('refuses %j', (patch, message) => {
    expect(() => parsePatch(patch)).toThrow(message);
  });

  test.each([
    'diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n',
    'diff --git a/l b/l\nnew file mode 160000\n',
    'diff --git a/l b/l\nindex 1..2\nGIT binary patch\n',
    'diff --git a/l b/l\nBinary files a/l and b/l differ\n',
  ])('says that it cannot do %j', (patch) => {
    expect(() => parsePatch(patch)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
  });
});
