import { chmodSync, mkdirSync, readdirSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeName, toFsPath } from '../../src/domain/rel-path.ts';
import type { Workspace } from '../../src/index.ts';
import { createGit } from '../../src/platform/git-process.ts';
import { openSandbox, type Sandbox, sandbox } from '../support/sandbox.ts';
import { scaled, testSeed } from '../support/scale.ts';
import { take } from '../support/take.ts';
import { treeListing } from '../support/tree-listing.ts';

/** Names and contents are latin1: every byte stands for itself. */
const NAMES = [
  'a',
  'b',
  'd',
  'e',
  'sp ace',
  ' lead',
  'tail ',
  'tab\t',
  'new\nline',
  'q"\\x',
  'f\xff',
  '-rf',
  'b/b',
];
const DIRECTORIES = ['d', 'e', 'd/e', 'sp ace', 'f\xff'];
const LINES = Array.from({ length: 30 }, (_, n) => `line ${n}\n`);
const CONTENTS = [
  '',
  '\n',
  'no line feed at the end',
  LINES.join(''),
  LINES.toSpliced(3, 2, 'changed\n').toSpliced(25, 1).join(''),
  LINES.join('\r\n'),
  'caf\xe9\n',
  'caf\xc3\xa9\n',
  'NUL \0 within\n',
  `\x89PNG${LINES.join('\0')}`,
  ...[25, 26, 27, 51, 52, 53].map((length) => `\xff${Buffer.alloc(length, 7).toString('latin1')}`),
  'more than is compared line by line\n'.repeat(40_000),
];

type Node =
  | { readonly kind: 'file'; readonly content: string; readonly executable: boolean }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'directory' };

// No link to itself: git cannot put a directory in its place.
const node: fc.Arbitrary<Node> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('file' as const),
      content: fc.constantFrom(...CONTENTS),
      executable: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('link' as const),
      target: fc.constantFrom('.', 'nowhere', '../out', 'no \xff', '/etc'),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'directory' as const }) },
);
const place = fc
  .tuple(fc.constantFrom('', '', ...DIRECTORIES), fc.constantFrom(...NAMES))
  .map((parts) => parts.filter(Boolean).join('/'));
const tree = fc.array(fc.tuple(place, node), { maxLength: 14 });

function makeTree(root: string, nodes: readonly (readonly [string, Node])[]): void {
  for (const name of readdirSync(root, { encoding: 'buffer' }))
    rmSync(Buffer.concat([Buffer.from(`${root}/`), name]), { recursive: true });
  for (const [at, made] of nodes) {
    const full = Buffer.from(`${root}/${at}`, 'latin1');
    try {
      mkdirSync(Buffer.from(path.dirname(`${root}/${at}`), 'latin1'), { recursive: true });
      if (made.kind === 'directory') mkdirSync(full);
      else if (made.kind === 'link') symlinkSync(Buffer.from(made.target, 'latin1'), full);
      else {
        writeFileSync(full, Buffer.from(made.content, 'latin1'), { flag: 'wx' });
        chmodSync(full, made.executable ? 0o755 : 0o644);
      }
    } catch (error) {
      // what came first stays
      if (!['EEXIST', 'ENOTDIR', 'EISDIR', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? ''))
        throw error;
    }
  }
}

/** What git knows of a tree. */
function listing(root: string): readonly string[] {
  return treeListing(root).filter((line) => !/ dir \d+$/s.test(line));
}

async function apply(place: Sandbox, cwd: string, patch: string, ...flags: readonly string[]): Promise<void> {
  await createGit(place.environment).run({
    args: ['apply', '--whitespace=nowarn', ...flags, '-'],
    cwd,
    input: Buffer.from(patch),
  });
}

async function copyOf(workspace: Workspace, place: Sandbox, checkpoint: string): Promise<string> {
  const copy = path.join(place.directory, 'copy');
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy);
  await workspace.restore({ checkpoint, into: copy });
  removeEmptyDirectories(copy);
  mkdirSync(copy, { recursive: true });
  return copy;
}

/** git knows none, and would not put a file in the place of a directory that holds one. */
function removeEmptyDirectories(directory: string): void {
  for (const entry of readdirSync(toFsPath(directory), { withFileTypes: true, encoding: 'buffer' })) {
    if (!entry.isDirectory()) continue;
    const inner = decodeName(entry.name);
    removeEmptyDirectories(`${directory}/${inner}`);
  }
  if (readdirSync(toFsPath(directory)).length === 0) rmdirSync(toFsPath(directory));
}

test.each([
  { engine: 'cas', runs: scaled(30, 3000) },
  { engine: 'git', runs: scaled(8, 400) },
] as const)(
  'whatever changed, git apply takes the patch of it, forward and back, engine $engine',
  async ({ engine, runs }) => {
    const seed = testSeed();
    process.stdout.write(`patch, ${engine}: seed ${seed}, ${runs} runs\n`);
    const home = sandbox();
    const { workspace } = await openSandbox(home);
    await fc.assert(
      fc.asyncProperty(tree, tree, async (before, after) => {
        makeTree(home.workspace, before);
        const from = await take(workspace, { engine });
        const then = listing(home.workspace);
        makeTree(home.workspace, after);
        const present = (await Array.fromAsync(workspace.patch({ from }))).join('');
        const to = await take(workspace, { engine });
        const now = listing(home.workspace);
        const patch = (await Array.fromAsync(workspace.patch({ from, to }))).join('');
        expect(present).toBe(patch);
        if (patch === '') {
          expect(now).toEqual(then);
          return;
        }
        const copy = await copyOf(workspace, home, from);
        await apply(home, copy, patch);
        expect(listing(copy)).toEqual(now);
        await apply(home, copy, patch, '--reverse');
        expect(listing(copy)).toEqual(then);
      }),
      { numRuns: runs, seed },
    );
  },
);
