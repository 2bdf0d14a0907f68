import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decodeName, encodeName, type RelPath, toFsPath } from '../../domain/rel-path.ts';
import { DEFAULT_LIMITS, type FrozenRules, type IgnoreFile } from '../../domain/rules.ts';
import { ScopeTree } from './scope-tree.ts';

/** A small tree with ignore files in it; paths end in `/` for directories. */
interface Case {
  readonly names: readonly string[];
  readonly root: string;
  readonly nested: string;
  readonly exclude: string;
}

const WORDS = [
  'a',
  'b',
  'ab',
  'foo',
  'é',
  'x y',
  'b ',
  'A',
  '[',
  '-',
  '!a',
  '#b',
  'a.c',
  'b.o',
  '\\',
  ':',
  '\u{1f600}',
];
const name = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...WORDS) },
  fc
    .array(fc.constantFrom('a', 'b', '.', 'c', '-', ']', '*', '?', '^', 'é', '\udcff'), {
      minLength: 1,
      maxLength: 4,
    })
    .map((parts) => parts.join(''))
    .filter((text) => text !== '.' && text !== '..'),
);
const PIECES = [
  'a',
  'b',
  'foo',
  'é',
  'A',
  '.c',
  '*',
  '*',
  '**',
  '***',
  '?',
  '/',
  '/',
  '[ab]',
  '[!a]',
  '[^b]',
  '[a-c]',
  '[]a]',
  '[!]a]',
  '[a',
  '[[:alpha:]]',
  '[[:bogus:]]',
  '[[:',
  '[[:]',
  '[[::]]',
  '[\\]]',
  '[a\\-c]',
  '[--a]',
  '[c-a]',
  '[é]',
  '[a-é]',
  '[/]',
  '\\',
  '\\a',
  '\\*',
  '\\[',
  '\\ ',
  ' ',
  '!',
  '#',
  '^',
  ']',
  '-',
  '\udcff',
  '**/',
  '/**',
  '/**/',
  '[[:space:]]',
  '[[:punct:]b]',
  '[[:upper:][:digit:]]',
  '\t',
];
const line = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 5 })
      .map((parts) => parts.join('')),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom('', '!', '/', '!/'),
        name,
        fc.constantFrom('', '/', ' ', '\\ ', '  ', '\r', '/*', '/**', '*'),
      )
      .map((parts) => parts.join('')),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('', '!'), fc.constantFrom(...WORDS), fc.constant('/'), fc.constantFrom(...WORDS))
      .map((parts) => parts.join('')),
  },
);
const text = fc
  .tuple(
    fc.constantFrom('', '', '', '\ufeff'),
    fc.array(line, { maxLength: 5 }),
    fc.constantFrom('\n', '\r\n'),
    fc.constantFrom('', '\n'),
  )
  .map(([bom, lines, eol, end]) => bom + lines.join(eol) + end);
const path = fc
  .tuple(fc.array(name, { minLength: 1, maxLength: 3 }), fc.constantFrom('', '', '/'))
  .map(([parts, end]) => parts.join('/') + end);
const aCase: fc.Arbitrary<Case> = fc.record({
  names: fc.array(path, { minLength: 3, maxLength: 10 }),
  root: text,
  nested: text,
  exclude: text,
});

let top: string;
beforeAll(() => {
  top = mkdtempSync(join(tmpdir(), 'waymark-ignore-'));
});
afterAll(() => rmSync(top, { recursive: true, force: true }));

const environment = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };

/** Creates the tree as its own repository; gives every path in it with whether it is a directory. */
function build(root: string, { names, ...texts }: Case): ReadonlyMap<string, boolean> {
  const made = new Map<string, boolean>();
  const add = (path: string, isDirectory: boolean) => {
    if (made.has(path)) return made.get(path) === isDirectory;
    const absolute = toFsPath(`${root}/${path}`);
    if (isDirectory) mkdirSync(absolute);
    else writeFileSync(absolute, '');
    made.set(path, isDirectory);
    return true;
  };
  mkdirSync(root);
  execFileSync('git', ['init', '-q', '--template=', root], { env: environment });
  for (const path of ['a/', 'a/a', ...names]) {
    const parts = path.split('/').filter((part) => part !== '');
    for (let depth = 1; depth <= parts.length; depth += 1) {
      if (!add(parts.slice(0, depth).join('/'), depth < parts.length || path.endsWith('/'))) break;
    }
  }
  mkdirSync(`${root}/.git/info`, { recursive: true });
  writeFileSync(`${root}/.gitignore`, encodeName(texts.root));
  writeFileSync(`${root}/a/.gitignore`, encodeName(texts.nested));
  writeFileSync(`${root}/.git/info/exclude`, encodeName(texts.exclude));
  return made;
}

function askGit(root: string, paths: readonly string[]): ReadonlySet<string> {
  const input = Buffer.concat(paths.map((path) => encodeName(`./${path}\0`)));
  const { stdout, stderr, status } = spawnSync(
    'git',
    ['check-ignore', '-z', '-v', '-n', '--no-index', '--stdin'],
    { cwd: root, input, env: environment },
  );
  if (status !== 0 && status !== 1) throw new Error(stderr.toString('utf8'));
  const fields = decodeName(stdout).split('\0');
  const ignored = new Set<string>();
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const pattern = fields[at + 2] ?? '';
    if (pattern !== '' && !pattern.startsWith('!')) ignored.add(fields[at + 3]?.slice(2) ?? '');
  }
  return ignored;
}

function askScope(files: readonly IgnoreFile[], paths: ReadonlyMap<string, boolean>): ReadonlySet<string> {
  const rules: FrozenRules = {
    version: 1,
    limits: DEFAULT_LIMITS,
    include: ['*', '!.git'],
    exclude: [],
    ignoreFiles: files,
    trackedExceptions: [],
    forbidden: [],
    selection: [],
  };
  const tree = new ScopeTree(rules, files, []);
  const ignored = new Set<string>();
  for (const [path, isDirectory] of paths) {
    if (tree.judgePath(path as RelPath, isDirectory).reason === 'ignored') ignored.add(path);
  }
  return ignored;
}

let built = 0;
function compare(given: Case): void {
  const root = join(top, String(built++));
  const paths = build(root, given);
  const files: IgnoreFile[] = [
    { dir: '', source: '.gitignore', text: given.root },
    { dir: 'a' as RelPath, source: '.gitignore', text: given.nested },
    { dir: '', source: 'info/exclude', text: given.exclude },
  ];
  const theirs = askGit(root, [...paths.keys()]);
  rmSync(root, { recursive: true, force: true });
  expect([...askScope(files, paths)].sort()).toEqual([...theirs].sort());
}

test('ScopeTree agrees with git check-ignore on random patterns and paths', () => {
  const seed = Number(process.env['FC_SEED'] ?? Date.now() % 2 ** 31);
  process.stdout.write(`ignore property seed: ${seed}\n`);
  fc.assert(fc.property(aCase, compare), { seed, numRuns: Number(process.env['FC_RUNS'] ?? 120) });
});

const LISTED: readonly (readonly [string, readonly string[]])[] = [
  ['foo\n!foo/bar\n', ['foo/bar', 'foo/baz', 'x/foo/bar']],
  ['foo/*\n!foo/bar\n', ['foo/bar', 'foo/baz', 'foo/baz/bar']],
  ['/foo\nbar/\n', ['foo', 'a/foo', 'bar', 'b/bar/', 'b/bar/x']],
  ['a/**/b\n**/c\nd/**\n', ['a/b', 'a/x/b', 'a/x/y/b', 'ab', 'c', 'x/c', 'd/', 'd/x', 'd/x/y']],
  ['foo**/bar\n', ['foobar', 'foo/bar', 'foox/bar', 'foox/y/bar']],
  ['b \nb\\ \n', ['b', 'b ', 'b  ']],
  ['*\n!*/\n!*.c\n', ['x', 'x.c', 'd/', 'd/x', 'd/x.c']],
  ['\\#b\n#a\n\\!a\n', ['#b', '#a', '!a']],
  ['*.[oa]\n[!a-c].h\n', ['x.o', 'x.a', 'x.c', 'd.h', 'a.h', '..h']],
  ['*\u00e9\n?\n', ['\u00e9', 'x\u00e9', 'e\u0301', 'x', '\u{1f600}']],
];

test.each(LISTED)('ScopeTree agrees with git on %j', (root, names) => {
  compare({ names, root, nested: '', exclude: '' });
});
