import { hash as digest } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NO_RULES } from '../../../test/support/snapshot-views.ts';
import { pairNodes } from '../../domain/diff.ts';
import type { ContentHash } from '../../domain/ids.ts';
import { comparePaths, type RelPath } from '../../domain/rel-path.ts';
import { SKIP_REASONS, type SnapshotNode } from '../../domain/snapshot.ts';
import { diffTrees } from './diff-trees.ts';
import { editTree, type TreeEdit } from './edit-tree.ts';
import { openTree } from './open-tree.ts';
import { treeBlobs } from './tree-blobs.ts';

const path = (text: string) => text as RelPath;
const hashOf = (text: string) => digest('sha256', text, 'hex') as ContentHash;
const file = (content: string): SnapshotNode => ({
  kind: 'file',
  hash: hashOf(content),
  size: content.length,
  mtimeNs: 1_700_000_000_123_456_789n,
  mode: 0o644,
});

class Nodes {
  readonly map = new Map<ContentHash, Buffer>();
  reads = new Set<ContentHash>();
  readonly read = (hash: ContentHash): Buffer => {
    this.reads.add(hash);
    const bytes = this.map.get(hash);
    if (!bytes) throw new Error(`no node ${hash}`);
    return bytes;
  };
  edit(base: ContentHash | undefined, edits: readonly TreeEdit[]): ContentHash {
    const { root, newNodes } = editTree(base, edits, this.read);
    for (const [hash, bytes] of newNodes) this.map.set(hash, bytes);
    return root;
  }
  build(tree: ReadonlyMap<RelPath, SnapshotNode>): ContentHash {
    return this.edit(undefined, editsOf(tree));
  }
  list(root: ContentHash) {
    return [...openTree(root, NO_RULES, false, this.read).nodes()];
  }
}

function editsOf(tree: ReadonlyMap<RelPath, SnapshotNode | undefined>): TreeEdit[] {
  return [...tree].map(([path, node]) => ({ path, node })).sort((a, b) => comparePaths(a.path, b.path));
}

/** Flat names only, so that no file lies below a file. */
function bigTree(count: number, prefix = 'src/some/package'): Map<RelPath, SnapshotNode> {
  const tree = new Map<RelPath, SnapshotNode>();
  for (let at = 0; at < count; at += 1)
    tree.set(path(`${prefix}/dir-${at % 97}/file-${at}.ts`), file(`${at}`));
  return tree;
}

const anyName = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    'a-b',
    'a.b',
    'é',
    'e\u0301',
    '公共.cpp',
    '\u{1f600}',
    '\udcff',
    'x\udc80y',
    ' lead',
    'new\nline',
    '\uffee',
  ),
  fc
    .string({ minLength: 1, maxLength: 6 })
    .filter((name) => !/[/\0]|^\.{1,2}$|^\.git$/i.test(name) && name.isWellFormed()),
);
const anyTime = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n });
const anyMode = fc.integer({ min: 0, max: 0o7777 });
const anyNode: fc.Arbitrary<SnapshotNode> = fc.oneof(
  fc.record({
    kind: fc.constant('file' as const),
    hash: fc.string().map(hashOf),
    size: fc.maxSafeNat(),
    mtimeNs: anyTime,
    mode: anyMode,
  }),
  fc.record({
    kind: fc.constant('symlink' as const),
    target: fc.constantFrom('a', '../..', '/etc', 'x\udcff', ''),
    mtimeNs: anyTime,
  }),
  fc.record({
    kind: fc.constant('directory' as const),
    mode: anyMode,
    mtimeNs: anyTime,
    listing: fc.constantFrom('complete' as const, 'partial' as const),
  }),
  fc.record({
    kind: fc.constant('observed' as const),
    reason: fc.constantFrom(...SKIP_REASONS),
    what: fc.constantFrom(
      'file' as const,
      'directory' as const,
      'symlink' as const,
      'special' as const,
      'unknown' as const,
    ),
    size: fc.maxSafeNat(),
  }),
);

describe('editTree()', () => {
  test('gives back any nodes exactly, in path order', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyName, anyNode), { maxLength: 40 }), (list) => {
        const tree = new Map(list.map(([name, node]) => [path(name), node]));
        const nodes = new Nodes();
        expect(nodes.list(nodes.build(tree))).toEqual(editsOf(tree).map(({ path, node }) => [path, node]));
      }),
      { numRuns: 200 },
    );
  });

  test('gives the same root for the same nodes whatever the history', () => {
    const step = fc.array(
      fc.tuple(
        fc.integer({ min: 0, max: 1500 }),
        fc.integer({ min: 1, max: 250 }),
        fc.option(fc.integer({ min: 0, max: 3 })),
      ),
      { minLength: 1, maxLength: 4 },
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), (steps) => {
        const nodes = new Nodes();
        const tree = new Map<RelPath, SnapshotNode>();
        let root = nodes.build(tree);
        for (const ranges of steps) {
          const edits = new Map<RelPath, SnapshotNode | undefined>();
          for (const [from, count, content] of ranges) {
            for (let at = from; at < from + count; at += 1) {
              edits.set(
                path(`d/${(at * 7919) % 1500}`),
                content === null ? undefined : file(`${at} ${content}`),
              );
            }
          }
          for (const [path, node] of edits) node ? tree.set(path, node) : tree.delete(path);
          root = nodes.edit(root, editsOf(edits));
          expect(root).toBe(new Nodes().build(tree));
        }
        expect(nodes.list(root)).toEqual(editsOf(tree).map(({ path, node }) => [path, node]));
      }),
      { numRuns: 60 },
    );
  });

  test('rewrites one segment and the index nodes above it for one changed, added or removed path', () => {
    const nodes = new Nodes();
    const tree = bigTree(20_000);
    const root = nodes.build(tree);
    const sizes: number[] = [];
    for (const edit of [
      { path: path('src/some/package/dir-5/file-5.ts'), node: file('new') },
      { path: path('src/some/package/dir-5/file-5b.ts'), node: file('added') },
      { path: path('src/some/package/dir-6/file-6.ts'), node: undefined },
    ]) {
      const { newNodes } = editTree(root, [edit], nodes.read);
      sizes.push(newNodes.size);
    }
    expect(Math.max(...sizes)).toBeLessThanOrEqual(7);
  });

  test('makes nothing new where the edits change nothing', () => {
    const nodes = new Nodes();
    const tree = bigTree(3000);
    const root = nodes.build(tree);
    const edits = editsOf(tree).filter((_, at) => at % 10 === 0);
    const same = editTree(root, [...edits, { path: path('zzz'), node: undefined }], nodes.read);
    expect(same).toEqual({ root, newNodes: new Map() });
  });

  test('empties a tree and fills it again', () => {
    const nodes = new Nodes();
    const tree = bigTree(500);
    const root = nodes.build(tree);
    const empty = nodes.edit(root, editsOf(new Map([...tree.keys()].map((path) => [path, undefined]))));
    expect(nodes.list(empty)).toEqual([]);
    expect(empty).toBe(new Nodes().build(new Map()));
    expect(nodes.edit(empty, editsOf(tree))).toBe(root);
  });

  test.each([
    '../evil',
    '/etc/x',
    'a/../../b',
    '.git/hooks/post-checkout',
    'a\0b',
    'a//b',
    'sub/.GIT/config',
  ])('SE-01: refuses to store %j', (bad) => {
    expect(() => editTree(undefined, [{ path: path(bad), node: file('x') }], new Nodes().read)).toThrow(
      expect.objectContaining({ code: 'UNSAFE_PATH' }),
    );
  });
});

describe('openTree()', () => {
  test('finds each node and those below a directory only', () => {
    const nodes = new Nodes();
    const tree = bigTree(5000);
    tree.set(path('src/some/package/dir-5'), {
      kind: 'directory',
      mode: 0o755,
      mtimeNs: 1n,
      listing: 'complete',
    });
    tree.set(path('src/some/package/dir-5-not'), file('x'));
    const view = openTree(nodes.build(tree), NO_RULES, false, nodes.read);
    for (const [path, node] of tree) expect(view.get(path)).toEqual(node);
    expect(view.get(path('src/some'))).toBeUndefined();
    expect(view.get(path('a'))).toBeUndefined();
    const below = [...view.nodes(path('src/some/package/dir-5'))].map(([path]) => path);
    expect(below).toEqual(
      [...tree.keys()].filter((path) => path.startsWith('src/some/package/dir-5/')).sort(),
    );
    expect([...view.nodes(path('src/some/package/dir-5/file-5.ts'))]).toEqual([]);
  });

  test.each(['file', 'symlink', 'observed'] as const)('SE-01: rejects a node below a %s', (kind) => {
    const above: SnapshotNode =
      kind === 'file'
        ? file('x')
        : kind === 'symlink'
          ? { kind, target: '/outside', mtimeNs: 1n }
          : { kind, reason: 'secret', what: 'file', size: 0 };
    const nodes = new Nodes();
    const root = nodes.build(
      new Map([
        [path('d'), above],
        [path('d-e'), file('y')],
        [path('d/sub/f'), file('z')],
      ]),
    );
    const view = openTree(root, NO_RULES, false, nodes.read);
    const invalid = expect.objectContaining({ code: 'MANIFEST_INVALID' });
    expect(() => view.get(path('d/sub/f'))).toThrow(invalid);
    expect(() => [...view.nodes()]).toThrow(invalid);
    const empty = nodes.build(new Map());
    expect(() => [...diffTrees(empty, root, nodes.read, nodes.read)]).toThrow(invalid);
    expect(view.get(path('d-e'))).toEqual(file('y'));
  });
});

describe('diffTrees()', () => {
  test('yields what pairNodes() yields', () => {
    const change = fc.tuple(fc.integer({ min: 0, max: 3999 }), fc.option(fc.integer({ min: 0, max: 1 })));
    const nodes = new Nodes();
    const tree = bigTree(3000, 'a');
    const base = nodes.build(tree);
    const names = [...bigTree(4000, 'a').keys()];
    fc.assert(
      fc.property(fc.array(change, { maxLength: 50 }), fc.nat({ max: 3000 }), (changes, cut) => {
        const edits = new Map<RelPath, SnapshotNode | undefined>();
        for (const [at, content] of changes)
          edits.set(names[at] as RelPath, content === null ? undefined : file(`${content}`));
        if (cut % 10 === 0) for (let at = cut; at < 3000; at += 1) edits.set(names[at] as RelPath, undefined);
        const other = nodes.edit(base, editsOf(edits));
        expect([...diffTrees(base, other, nodes.read, nodes.read)]).toEqual([
          ...pairNodes(nodes.list(base), nodes.list(other)),
        ]);
        expect([...diffTrees(other, base, nodes.read, nodes.read)]).toEqual([
          ...pairNodes(nodes.list(other), nodes.list(base)),
        ]);
      }),
      { numRuns: 30 },
    );
  });

  test('does not read equal subtrees', () => {
    const nodes = new Nodes();
    const base = nodes.build(bigTree(20_000));
    const other = nodes.edit(base, [{ path: path('src/some/package/dir-9/file-9.ts'), node: file('new') }]);
    nodes.reads.clear();
    expect([...diffTrees(base, other, nodes.read, nodes.read)]).toHaveLength(1);
    expect(nodes.reads.size).toBeLessThanOrEqual(20);
  });
});

describe('treeBlobs()', () => {
  test('yields every node and content once per visited set', () => {
    const nodes = new Nodes();
    const tree = bigTree(5000);
    const base = nodes.build(tree);
    const visited = new Set<ContentHash>();
    const found = [...treeBlobs(base, nodes.read, visited)];
    expect(new Set(found.filter((blob) => blob.path === undefined).map((blob) => blob.hash))).toEqual(
      new Set(nodes.map.keys()),
    );
    expect(found.filter((blob) => blob.path !== undefined)).toHaveLength(5000);
    const other = nodes.edit(base, [{ path: path('new'), node: file('new') }]);
    const more = [...treeBlobs(other, nodes.read, visited)];
    expect(more.length).toBeLessThan(120);
    expect(more).toContainEqual({ hash: hashOf('new'), path: 'new', size: 3 });
  });
});
