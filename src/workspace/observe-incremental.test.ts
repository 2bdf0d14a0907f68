import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeNodes, type Nodes, WorkspaceScene } from '../../test/support/workspace-scene.ts';
import type { RelPath } from '../domain/rel-path.ts';
import { compileScope, type Scope } from './scope/scope.ts';
import { isExcludedByRule } from './walk/excluded.ts';

type Step =
  | {
      readonly kind: 'write' | 'rewrite' | 'remove' | 'mkdir' | 'chmod' | 'touch';
      readonly at: string;
      readonly text: string;
    }
  | { readonly kind: 'rename' | 'link' | 'symlink'; readonly at: string; readonly to: string }
  | { readonly kind: 'ignore'; readonly at: string; readonly text: string }
  | { readonly kind: 'index'; readonly at: string; readonly add: boolean }
  | { readonly kind: 'wait' }
  | { readonly kind: 'capture'; readonly asked: Asked };

/** What a capture is asked for. */
interface Asked {
  readonly forced: readonly string[];
  readonly selection: readonly string[];
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly maxFileBytes: number;
}

const EVERYTHING: Asked = { forced: [], selection: [], include: [], exclude: [], maxFileBytes: 1000 };

const place = fc.constantFrom(
  'a',
  'a/b',
  'a/b/x.log',
  'a/dist',
  'a/dist/a',
  'b',
  'b/a',
  'b/x.log',
  'build',
  'build/a',
  'x.log',
  '.env',
  'c\udcffd',
  'c\udcffd/é',
);
const text = fc.constantFrom('', 'AAAA', 'BBBB', 'longer text');
const patterns = fc.constantFrom(
  '',
  '*.log\n',
  '*.log\n!x.log\n',
  'dist\n',
  '/a\n',
  'b/\n',
  '*\n!*/\n',
  'build\n!build\n',
);
const directory = fc.constantFrom('', 'a/', 'b/', 'a/b/');
const rarely = <T>(arbitrary: fc.Arbitrary<readonly T[]>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary });
const someOf = (...all: readonly string[]) =>
  rarely(fc.uniqueArray(fc.constantFrom(...all), { minLength: 1, maxLength: 2 }));
const asked: fc.Arbitrary<Asked> = fc.record({
  forced: rarely(fc.uniqueArray(place, { minLength: 1, maxLength: 3 })),
  selection: rarely(fc.uniqueArray(place, { minLength: 1, maxLength: 3 })),
  include: someOf('build', '/a/dist/', 'dist'),
  exclude: someOf('x.log', '/b', 'a/b/', 'é'),
  maxFileBytes: fc.constantFrom(1000, 1000, 5),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('write' as const), at: place, text }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('rewrite' as const), at: place, text }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('remove' as const, 'mkdir' as const, 'chmod' as const, 'touch' as const),
      at: place,
      text,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('rename' as const, 'link' as const, 'symlink' as const),
      at: place,
      to: place,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('ignore' as const),
      at: fc.tuple(directory, fc.constantFrom('.gitignore', '.waymarkignore')).map((parts) => parts.join('')),
      text: patterns,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('ignore' as const),
      at: fc.constant('.git/info/exclude'),
      text: patterns,
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('index' as const), at: place, add: fc.boolean() }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'wait' as const }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('capture' as const), asked }) },
);

/** Does a step as far as the tree allows. */
function attempt(scene: WorkspaceScene, given: Exclude<Step, { readonly kind: 'wait' | 'capture' }>): void {
  try {
    take(scene, given);
  } catch {
    // this tree has no place for the step
  }
}

function take(scene: WorkspaceScene, given: Exclude<Step, { readonly kind: 'wait' | 'capture' }>): void {
  const path = scene.path(given.at);
  switch (given.kind) {
    case 'write':
      scene.write(given.at, given.text);
      utimesSync(path, 1000, 1000);
      break;
    case 'ignore':
      writeFileSync(path, given.text);
      break;
    case 'mkdir':
      mkdirSync(path, { recursive: true });
      break;
    case 'remove':
      rmSync(path, { recursive: true });
      break;
    case 'chmod':
      chmodSync(path, given.text === '' ? 0o700 : 0o755);
      break;
    case 'touch':
      utimesSync(path, 1000, given.text.length + 1000);
      break;
    case 'rewrite': {
      const { atime, mtime } = lstatSync(path);
      writeFileSync(path, given.text);
      utimesSync(path, atime, mtime);
      break;
    }
    case 'rename':
      renameSync(path, scene.path(given.to));
      break;
    case 'link':
      linkSync(path, scene.path(given.to));
      break;
    case 'symlink':
      symlinkSync(given.to, path);
      break;
    case 'index':
      scene.runGit('update-index', '-z', given.add ? '--add' : '--force-remove', '--', given.at);
  }
}

/** What was captured is in scope by the frozen rules, what was left out by rule is not, for the same reason. */
function expectScopeAgrees(scope: Scope, nodes: Nodes): void {
  for (const [path, node] of nodes) {
    const kind = node.kind === 'observed' ? (node.what === 'directory' ? 'directory' : 'file') : node.kind;
    const byRule = node.kind === 'observed' && isExcludedByRule(node.reason) ? node.reason : undefined;
    expect([path, scope.reasonToSkip(path as RelPath, kind)]).toEqual([path, byRule]);
  }
}

async function expectSameAsFresh(scene: WorkspaceScene, given = EVERYTHING): Promise<void> {
  const { forced, selection, include, exclude, maxFileBytes } = given;
  const scope = scene.live({ selection: selection as RelPath[], include, exclude, limits: { maxFileBytes } });
  const input = { scope, forced: new Set(forced as RelPath[]) };
  const observation = await scene.capture(input);
  const fresh = await scene.fresh(input);
  expect(describeNodes(scene.nodes)).toEqual(describeNodes(fresh.nodes));
  expect(observation.draft.rules).toEqual(fresh.rules);
  if (forced.length === 0) expectScopeAgrees(compileScope(observation.draft.rules), scene.nodes);
  const skips = [...fresh.nodes].filter(([, node]) => node.kind === 'observed').map(([path]) => path);
  const late = new Set(['unreadable', 'unstable']);
  expect(observation.skips.filter(({ reason }) => !late.has(reason)).map(({ path }) => path)).toEqual(
    skips.sort(),
  );
}

test('observeWorkspace() sees with a cache what it sees without one, after any changes', async () => {
  const seed = Number(process.env['FC_SEED'] ?? Date.now() % 2 ** 31);
  process.stdout.write(`incremental property seed: ${seed}\n`);
  const property = fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
    const scene = new WorkspaceScene();
    scene.runGit('init', '-q');
    for (const each of steps) {
      if (each.kind === 'wait') await scene.settle();
      else if (each.kind === 'capture') await expectSameAsFresh(scene, each.asked);
      else attempt(scene, each);
    }
    await expectSameAsFresh(scene);
    await scene.settle();
    await expectSameAsFresh(scene);
    const again = await scene.capture();
    expect([again.unchanged, again.stats.filesRead]).toEqual([true, 0]);
    rmSync(scene.directory, { recursive: true });
  });
  await fc.assert(property, { seed, numRuns: Number(process.env['FC_RUNS'] ?? 25) });
});
