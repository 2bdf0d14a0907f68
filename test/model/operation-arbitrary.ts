import fc from 'fast-check';
import { type DiskOperation, GROWN } from './disk-operations.ts';

const NAMES = [
  'a',
  'b',
  'a!',
  'c.txt',
  'x.log',
  'keep.log',
  '-rf',
  '*',
  'a[1]',
  'new\nline',
  'f\xff',
  ' lead',
];
const DIRECTORIES = ['d', 'e', 'sub', 'tmp', 'node_modules', 'dist', 'd\xe9'];
const HIDDEN = ['.env', 'k.pem', 'm.pyc', 'build'];
const PATTERNS = [
  '*.log',
  '!keep.log',
  'tmp/',
  'tmp',
  '/a',
  'd/*',
  '!d/a',
  '**/b',
  'e/**',
  'sub',
  '*',
  '!*/',
];

const name = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...NAMES) },
  { weight: 4, arbitrary: fc.constantFrom(...DIRECTORIES) },
  { weight: 1, arbitrary: fc.constantFrom(...HIDDEN) },
);
const path = fc
  .tuple(fc.array(fc.constantFrom(...DIRECTORIES), { maxLength: 2 }), name)
  .map(([directories, last]) => [...directories, last].join('/'));
const pick = fc.nat({ max: 40 }).map((index) => ({ pick: index }));
const place = fc.oneof(
  pick,
  path.map((at) => ({ path: at })),
);
const fileMode = fc.constantFrom(0o644, 0o644, 0o600, 0o755, 0o444, 0o4711);
const directoryMode = fc.constantFrom(0o755, 0o755, 0o700, 0o2750, 0o555);
const content = fc.constantFrom('', 'x', 'y', 'line\r\n', '\xff\x00\xfe', 'some more bytes', GROWN);
const patterns = (max: number) => fc.uniqueArray(fc.constantFrom(...PATTERNS), { maxLength: max });
const configuration = fc.record(
  {
    maxFileBytes: fc.constantFrom(100, 350, 8_000_000),
    maxTotalBytes: fc.constantFrom(30, 500, 60_000_000),
    include: fc.constantFrom(['dist'], ['node_modules', 'build']),
    exclude: fc.constantFrom(['e'], ['*.txt', 'sub/'], ['**']),
  },
  { requiredKeys: [] },
);

export const diskOperation: fc.Arbitrary<DiskOperation> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('write'), at: place, content, mode: fileMode }) },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constantFrom('append', 'grow', 'rewrite', 'touch', 'remove', 'remove'),
      at: pick,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('rename', 'link'), at: pick, to: path }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('chmod'), at: pick, mode: fileMode }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('mkdir'), at: place, mode: directoryMode }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('symlink'),
      at: place,
      // of what lies outside, /proc is the directory that no mistake of a test can change
      target: fc.constantFrom('a', 'd', 'nowhere', '..', '/proc', 'f\xff'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('swap'),
      at: pick,
      into: fc.constantFrom('file', 'directory', 'symlink'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('ignore'),
      file: fc.constantFrom(
        '.gitignore',
        '.gitignore',
        '.waymarkignore',
        'd/.gitignore',
        'sub/.waymarkignore',
        '.git/info/exclude',
      ),
      lines: patterns(3),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('configure'), config: configuration }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('fifo', 'track', 'track', 'repository'), at: place }),
  },
) as fc.Arbitrary<DiskOperation>;
