import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_RULES, viewOf } from '../../../test/support/snapshot-views.ts';
import { pairNodes } from '../../domain/diff.ts';
import type { ContentHash } from '../../domain/ids.ts';
import { ancestorsOf, isBelow, joinRel, parentOf, type RelPath } from '../../domain/rel-path.ts';
import type { FrozenRules } from '../../domain/rules.ts';
import { isStored, type SnapshotNode, type SnapshotView, sameEntry } from '../../domain/snapshot.ts';
import { compileScope } from '../../workspace/scope/scope.ts';
import { planRestore } from './plan-restore.ts';
import type { RestorePlan } from './restore-plan.ts';

/** Names collide often; `x.log` is what rules may ignore, `a!` sorts between `a` and what lies in it. */
const NAMES = ['a', 'a!', 'b', 'x.log'];

const fileNode = fc
  .record({ content: fc.integer({ min: 0, max: 2 }), mode: fc.constantFrom(0o644, 0o755) })
  .map(
    ({ content, mode }): SnapshotNode => ({
      kind: 'file',
      hash: String(content).repeat(64) as ContentHash,
      size: content,
      mtimeNs: 1n,
      mode,
    }),
  );
const linkNode = fc
  .constantFrom('p', 'q')
  .map((target): SnapshotNode => ({ kind: 'symlink', target, mtimeNs: 1n }));
const directoryNode = fc.record({ mode: fc.constantFrom(0o755, 0o700), partial: fc.boolean() }).map(
  ({ mode, partial }): SnapshotNode => ({
    kind: 'directory',
    mode,
    mtimeNs: 1n,
    listing: partial && mode === 0o700 ? 'partial' : 'complete',
  }),
);
const observedNode = fc
  .record({
    reason: fc.constantFrom('ignored', 'secret', 'pruned', 'unreadable', 'over_cap', 'other_device'),
    what: fc.constantFrom('file', 'directory', 'symlink'),
  })
  .map(({ reason, what }): SnapshotNode => ({ kind: 'observed', reason, what, size: 1 }) as SnapshotNode);

type Tree = Readonly<Record<string, { readonly node: SnapshotNode; readonly below?: Tree }>>;

/** Trees of up to `depth` levels. */
function treeOf(depth: number): fc.Arbitrary<Tree> {
  const leaf = fc.oneof(
    { weight: 4, arbitrary: fileNode },
    { weight: 1, arbitrary: linkNode },
    { weight: 1, arbitrary: observedNode },
  );
  const leaves = leaf.map((node) => ({ node }));
  const directory = fc.record({
    node: directoryNode,
    below: depth > 1 ? treeOf(depth - 1) : fc.constant({}),
  });
  return fc.dictionary(fc.constantFrom(...NAMES), fc.oneof(leaves, directory), { maxKeys: 4 });
}

const tree = treeOf(3);

function nodesOf(sketch: Tree, dir: RelPath | '' = ''): [RelPath, SnapshotNode][] {
  return Object.entries(sketch).flatMap(([name, { node, below }]) => {
    const path = joinRel(dir, name);
    return [[path, node] as [RelPath, SnapshotNode], ...(below ? nodesOf(below, path) : [])];
  });
}

const rules = fc
  .boolean()
  .map(
    (ignores): FrozenRules =>
      ignores ? { ...NO_RULES, ignoreFiles: [{ dir: '', source: '.gitignore', text: '*.log' }] } : NO_RULES,
  );

const question = fc
  .record({
    old: tree,
    now: tree,
    thenRules: rules,
    nowRules: rules,
    between: rules,
    truncated: fc.boolean(),
  })
  .map(({ old, now, thenRules, nowRules, between, truncated }) => ({
    target: viewOf(nodesOf(old), { rules: thenRules, truncated: truncated && Object.keys(old).length > 2 }),
    present: viewOf(nodesOf(now), { rules: nowRules }),
    between,
  }));

type Question = typeof question extends fc.Arbitrary<infer T> ? T : never;

function plan({ target, present, between }: Question, paths: readonly string[] = []): RestorePlan {
  return planRestore({
    target,
    present,
    pairs: pairNodes(target.nodes(), present.nodes()),
    targetScope: compileScope(target.rules),
    presentScope: compileScope(present.rules),
    betweenScopes: [compileScope(between)],
    selection: { paths },
  });
}

/** The present after the plan, in a model. */
function applied(present: SnapshotView, { actions }: RestorePlan): SnapshotView {
  const nodes = new Map<RelPath, SnapshotNode>(present.nodes());
  for (const { path, before, after } of actions) {
    const found = nodes.get(path);
    expect([
      path,
      found === undefined ? undefined : isStored(found) && before && sameEntry(found, before),
    ]).toEqual([path, before === undefined ? undefined : true]);
    if (after === undefined) nodes.delete(path);
    else nodes.set(path, after);
  }
  return viewOf(nodes, { rules: present.rules });
}

/** The proof of absence, as the design words it. */
function provenAbsent(view: SnapshotView, path: RelPath): boolean {
  if (view.truncated || view.get(path) !== undefined) return false;
  const scope = compileScope(view.rules);
  for (const ancestor of [...ancestorsOf(path)].reverse()) {
    const node = view.get(ancestor);
    if (node === undefined && scope.reasonToSkip(ancestor, 'directory') !== undefined) return false;
    if (node?.kind === 'directory') return node.listing === 'complete';
    if (node !== undefined) return node.kind !== 'observed';
  }
  return true;
}

const RUNS = { numRuns: 1500 };

test('planRestore() deletes only what the target proves absent and every rule set has in scope', () => {
  fc.assert(
    fc.property(question, (asked) => {
      for (const { path, action, before } of plan(asked).actions) {
        if (action !== 'delete') continue;
        expect([path, provenAbsent(asked.target, path)]).toEqual([path, true]);
        for (const one of [asked.target.rules, asked.present.rules, asked.between]) {
          expect(compileScope(one).reasonToSkip(path, before?.kind ?? 'file')).toBeUndefined();
        }
      }
    }),
    RUNS,
  );
});

test('planRestore() touches nothing unknown on either side, and leaves its place', () => {
  fc.assert(
    fc.property(question, (asked) => {
      const result = plan(asked);
      const after = applied(asked.present, result);
      for (const { path } of result.actions) {
        expect(asked.target.get(path)?.kind).not.toBe('observed');
        expect(asked.present.get(path)?.kind).not.toBe('observed');
      }
      for (const [path, node] of asked.present.nodes()) {
        if (node.kind !== 'observed') continue;
        for (const ancestor of ancestorsOf(path)) expect(after.get(ancestor)?.kind).toBe('directory');
      }
      for (const [path, node] of after.nodes()) {
        const wanted = asked.target.get(path);
        if (node.kind !== 'directory' || wanted === undefined || wanted.kind === 'directory') continue;
        expect(result.actions.filter((action) => isBelow(action.path, path))).toEqual([]);
      }
    }),
    RUNS,
  );
});

test('planRestore() leads to a tree that holds together', () => {
  fc.assert(
    fc.property(question, (asked) => {
      const after = applied(asked.present, plan(asked));
      for (const [path] of after.nodes()) {
        const parent = parentOf(path);
        const node = parent === '' ? undefined : after.get(parent);
        if (parent !== '')
          expect([path, node?.kind === 'directory' || node?.kind === 'observed']).toEqual([path, true]);
        if (node?.kind === 'observed') expect(node.what).toBe('directory');
      }
    }),
    RUNS,
  );
});

test('planRestore() restores everything stored or says why not, and has nothing left to do afterwards', () => {
  fc.assert(
    fc.property(question, (asked) => {
      const result = plan(asked);
      const after = applied(asked.present, result);
      const skipped = new Set(result.skips.map(({ path }) => path));
      for (const [path, wanted] of asked.target.nodes()) {
        if (!isStored(wanted) || skipped.has(path)) continue;
        const found = after.get(path);
        const notWalked =
          found?.kind === 'observed' && found.what === 'directory' && wanted.kind === 'directory';
        expect([path, notWalked || (isStored(found) && sameEntry(found, wanted))]).toEqual([path, true]);
      }
      expect(plan({ ...asked, present: after }).actions).toEqual([]);
      expect(
        result.skips.filter(({ path }) => result.actions.some((action) => action.path === path)),
      ).toEqual([]);
    }),
    RUNS,
  );
});

test('planRestore() with a selection does of the whole plan what it names, and makes missing parents', () => {
  fc.assert(
    fc.property(question, fc.nat(), (asked, pick) => {
      const paths = [...new Set([...asked.target.nodes(), ...asked.present.nodes()].map(([path]) => path))];
      const selected = paths[pick % Math.max(paths.length, 1)];
      if (selected === undefined) return;
      const { actions } = plan(asked, [selected]);
      for (const { path, before, after } of actions) {
        if (path === selected || isBelow(path, selected)) continue;
        expect(isBelow(selected, path)).toBe(true);
        expect([path, before, after?.kind]).toEqual([path, undefined, 'directory']);
      }
      applied(asked.present, { actions, skips: [], summary: plan(asked).summary });
    }),
    RUNS,
  );
});
