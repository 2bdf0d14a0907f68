import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeName, encodeName } from '../domain/rel-path.ts';
import { onlyName, takeName, takeNames } from './checkpoint-names.ts';
import { exactArguments } from './exact-arguments.ts';
import { exactCommand } from './exact-command.ts';
import { findProgram } from './find-program.ts';
import { chooseFormat, formatIn } from './format.ts';
import { Options } from './options.ts';
import { workspacePath, workspacePaths } from './workspace-paths.ts';

let base: string;
let root: string;

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-arguments-')));
  root = join(base, 'root');
  mkdirSync(join(root, 'sub', 'deep'), { recursive: true });
  symlinkSync(root, join(base, 'link'));
  symlinkSync('/etc', join(root, 'outside'));
  writeFileSync(join(root, '"quoted"'), '');
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

describe('workspacePath()', () => {
  const path = (typed: string, cwd = root) => workspacePath(typed, cwd, root);

  test('is relative to the current directory', () => {
    expect(path('a.txt')).toBe('a.txt');
    expect(path('a.txt', join(root, 'sub'))).toBe('sub/a.txt');
    expect(path('../b', join(root, 'sub/deep'))).toBe('sub/b');
    expect(path('./x/../y//z/')).toBe('y/z');
    expect(path('*.ts', join(root, 'sub'))).toBe('sub/*.ts');
  });

  test('takes absolute paths, also through a link to the workspace, also of what is gone', () => {
    expect(path(join(root, 'a'))).toBe('a');
    expect(path(join(base, 'link', 'sub', 'a'))).toBe('sub/a');
    expect(path(join(base, 'link', 'gone', 'too', 'a'))).toBe('gone/too/a');
  });

  test('does not follow links inside the workspace', () => {
    expect(path('outside/passwd')).toBe('outside/passwd');
  });

  test.each(['../x', '../../etc/passwd', '/etc/passwd', 'a/../../b', '..'])('SE-01: refuses %j', (typed) => {
    expect(() => path(typed)).toThrow(expect.objectContaining({ code: 'UNSAFE_PATH' }));
  });

  test('refuses an empty path', () => {
    expect(() => path('')).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });

  test.each([
    [' lead', ' lead'],
    ['-rf', '-rf'],
    [':(top)x', ':(top)x'],
    ['a[1]', 'a[1]'],
    ['!n', '!n'],
    ['"new\\nline"', 'new\nline'],
    ['"f\\377o"', 'f\udcffo'],
    ['"quoted"', '"quoted"'],
    ['"\\"quoted\\""', '"quoted"'],
    ['"gone"', 'gone'],
  ])('PM-03: takes %j as one name', (typed, name) => expect(path(typed)).toBe(name));

  test('workspacePaths() is empty where one path is the workspace: everything', () => {
    expect(workspacePaths(['a', '.'], root, root)).toEqual([]);
    expect(workspacePaths(['..'], join(root, 'sub'), root)).toEqual([]);
    expect(workspacePaths(['.'], join(root, 'sub'), root)).toEqual(['sub']);
    expect(workspacePaths([], join(root, 'sub'), root)).toEqual([]);
  });
});

describe('takeNames()', () => {
  const isSession = async (word: string) => word === 'nightly' || word === '7';

  test.each([
    [['nightly', '3', 'src'], 1, [{ session: 'nightly', seq: 3 }], ['src']],
    [['nightly', '0003'], 1, [{ session: 'nightly', seq: 3 }], []],
    [['7', '8', '9'], 1, [{ session: '7', seq: 8 }], ['9']],
    [['@', '3'], 1, ['@'], ['3']],
    [['@~1', '@'], 2, ['@~1', '@'], []],
    [
      ['nightly', '0', 'nightly', '4', 'x'],
      2,
      [
        { session: 'nightly', seq: 0 },
        { session: 'nightly', seq: 4 },
      ],
      ['x'],
    ],
    [['@', 'nightly', '4'], 2, ['@', { session: 'nightly', seq: 4 }], []],
    [['nightly', '3x'], 1, ['nightly'], ['3x']],
  ])('reads %j (at most %d)', async (words, most, names, rest) => {
    expect(await takeNames(words, most, isSession)).toEqual({ names, rest });
  });

  test('takeName() and onlyName() refuse too few and too many', async () => {
    await expect(takeName([], isSession)).rejects.toMatchObject({ code: 'USAGE' });
    await expect(onlyName(['@', 'x'], isSession)).rejects.toMatchObject({ code: 'USAGE' });
    await expect(onlyName(['daily', '3'], isSession)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    expect(await onlyName(['nightly', '3'], isSession)).toEqual({ session: 'nightly', seq: 3 });
  });
});

test('exactArguments() gives the bytes that Node replaced', () => {
  const commandLine = join(base, 'cmdline');
  writeFileSync(
    commandLine,
    Buffer.concat([
      Buffer.from('node\0--flag\0bin.ts\0restore\0'),
      encodeName('f\udcffo'),
      Buffer.from('\0\0é\0'),
    ]),
  );
  expect(exactArguments(['restore', 'f\ufffdo', '', 'é'], commandLine)).toEqual([
    'restore',
    'f\udcffo',
    '',
    'é',
  ]);
  expect(exactArguments(['f\ufffdo'], join(base, 'none'))).toEqual(['f\ufffdo']);
  expect(exactArguments(['plain'], join(base, 'none'))).toEqual(['plain']);
  expect(decodeName(Buffer.from([0x66, 0xff, 0x6f]))).toBe('f\udcffo');
});

test('findProgram() finds what execvp would, and tells missing from not executable', () => {
  const bin = join(base, 'bin');
  mkdirSync(join(bin, 'adirectory'), { recursive: true });
  writeFileSync(join(bin, 'run'), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(join(bin, 'data'), '', { mode: 0o644 });
  const errno = (value: string) =>
    expect.objectContaining({ code: 'COMMAND_FAILED', details: { errno: value } });
  expect(findProgram('run', `/nowhere:${bin}`)).toBe(join(bin, 'run'));
  expect(findProgram(join(bin, 'run'), '')).toBe(join(bin, 'run'));
  expect(() => findProgram('gone', bin)).toThrow(errno('ENOENT'));
  expect(() => findProgram('', bin)).toThrow(errno('ENOENT'));
  expect(() => findProgram('data', bin)).toThrow(errno('EACCES'));
  expect(() => findProgram(bin, '')).toThrow(errno('EACCES'));
  expect(() => findProgram(join(bin, 'gone'), bin)).toThrow(errno('ENOENT'));
  expect(() => findProgram('adirectory', bin)).toThrow(errno('ENOENT'));
});

test('exactCommand() brings bytes that no string holds to the program', () => {
  expect(exactCommand(['printf', '%s', 'plain'])).toEqual(['printf', '%s', 'plain']);
  const [program = '', ...args] = exactCommand(['printf', '%s|', 'f\udcffo\n', "it's", '\udcfe']);
  expect(execFileSync(program, args)).toEqual(
    Buffer.concat([
      Buffer.from('f'),
      Buffer.of(0xff),
      Buffer.from("o\n|it's|"),
      Buffer.of(0xfe),
      Buffer.from('|'),
    ]),
  );
});

test('chooseFormat() is rich at a terminal, plain elsewhere', () => {
  expect(chooseFormat(undefined, true)).toBe('rich');
  expect(chooseFormat(undefined, false)).toBe('plain');
  expect(chooseFormat('yaml', true)).toBe('yaml');
});

test.each([
  [['x', '--format', 'json'], 'json'],
  [['--format=yaml'], 'yaml'],
  [['-fjson'], 'json'],
  [['-f', 'json', '--wrong'], 'json'],
  [['exec', '--', '-f', 'json'], undefined],
  [[], undefined],
])('formatIn() finds the format in %j', (argv, format) => expect(formatIn(argv)).toBe(format));

describe('Options', () => {
  const options = new Options({ wait: '1.5', limit: '3', store: 'git', yes: true });

  test('reads seconds, counts, choices and flags', () => {
    expect(options.seconds('wait')).toBe(1500);
    expect(options.count('limit')).toBe(3);
    expect(options.choice('store', ['cas', 'git'])).toBe('git');
    expect(options.flag('yes')).toBe(true);
    expect(options.flag('no')).toBe(false);
    expect(options.seconds('none')).toBeUndefined();
  });

  test.each(['-1', 'x', '', 'Infinity', 'NaN', '1e99'])('refuses %j as seconds', (wait) => {
    expect(() => new Options({ wait }).seconds('wait')).toThrow(/--wait needs/);
  });

  test.each(['0', '-1', '1.5', 'x', '99999999999999999'])('refuses %j as a count', (maxRows) => {
    expect(() => new Options({ maxRows }).count('maxRows')).toThrow(/--max-rows needs/);
  });
});
