import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isWaymarkError } from '../../src/index.ts';
import type { ApplyResult } from '../../src/plans/plan-service.ts';
import { asidePath } from '../../src/worktree/create/set-aside.ts';
import { spread } from '../support/at-most.ts';
import { type PlanScene, planScene } from '../support/plan-scene.ts';
import { scaled } from '../support/scale.ts';

const MOMENTS = scaled(6, 10_000);

const write = (path: string, content: string) => ({ tool: 'write_file', path, content });
const shell = (command: string) => ({ tool: 'shell', command });
const commit = 'git -c user.name=x -c user.email=x@x commit -q --allow-empty';

function repository(scene: PlanScene): void {
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: scene.root });
  git('init', '-q', '-b', 'main');
  scene.put({ tracked: 'committed\n', '.gitignore': 'data/\nignored\n*.key\n' });
  git('add', '.');
  git('-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-qm', 'x');
  scene.put({ 'data/input': 'the same in the copy', 'own.key': 'SECRET' });
}

async function complete(scene: PlanScene, steps: readonly object[], more: object = {}) {
  const file = scene.planFile({ sandbox: 'filesystem_copy', steps, ...more });
  const plan = await scene.plans.run({ file, workspace: scene.root });
  expect(plan).toMatchObject({ state: 'complete', error: null });
  return plan;
}

const unheldIn = ({ kept }: Pick<ApplyResult, 'kept'>) =>
  kept.flatMap(({ unheld }) => unheld.map(({ path, reason }) => `${path} ${reason}`));

describe('apply removes a copy', () => {
  test('that holds nothing of its own, whatever it has of the workspace and whatever git did in it', async () => {
    await using scene = await planScene();
    repository(scene);
    const plan = await complete(scene, [
      write('brought', 'b'),
      shell('git status; git add brought; git stash list; git branch other; git init -q empty'),
    ]);
    const applied = await scene.plans.apply(plan.id);
    expect(unheldIn(applied)).toEqual([]);
    expect(applied.plan).toMatchObject({ state: 'applied', sandbox: { state: 'removed' } });
    expect(existsSync(plan.sandbox.path)).toBe(false);
  });

  test.each([
    ['an ignored file', 'echo r > data/result', 'data/result unheld'],
    ['an ignored file that it changed', 'echo r > data/input', 'data/input unheld'],
    ['a file in a pruned directory', 'mkdir dist; echo r > dist/r', 'dist/r unheld'],
    ['a secret', 'echo P > signing.key', 'signing.key secret'],
    ['a commit', `echo x > tracked; ${commit} -am y`, '. commits'],
    ['a commit on another branch', `git checkout -qb b; ${commit} -m y; git checkout -q main`, '. commits'],
    ['a stash', 'echo x > tracked; git -c user.name=x -c user.email=x@x stash -q', '. commits'],
    [
      'a content that is only staged',
      'echo s > tracked; git add tracked; echo t > tracked',
      'tracked staged',
    ],
    ['a repository of its own', `mkdir data/r; cd data/r; git init -q; ${commit} -m y`, 'data/r commits'],
  ])('but not one that holds %s', async (_, command, what) => {
    await using scene = await planScene();
    repository(scene);
    const plan = await complete(scene, [write('brought', 'b'), shell(command)]);
    const applied = await scene.plans.apply(plan.id);
    expect(unheldIn(applied)).toEqual([what]);
    expect(applied.plan).toMatchObject({ state: 'applied', sandbox: { state: 'ready' } });
    expect(readFileSync(join(scene.root, 'brought'), 'utf8')).toBe('b');
    expect(existsSync(join(plan.sandbox.path, 'brought'))).toBe(true);
  });

  test('of a subplan likewise: it may hold what its parent did not get', async () => {
    await using scene = await planScene();
    repository(scene);
    const parallel = [
      { name: 'x', steps: [write('x', 'x')] },
      { name: 'y', steps: [write('y', 'y'), shell('echo r > data/result')] },
    ];
    const plan = await complete(scene, [{ parallel }]);
    const applied = await scene.plans.apply(plan.id);
    expect(unheldIn(applied)).toEqual(['data/result unheld']);
    expect(applied.kept.map(({ plan: one }) => one.name)).toEqual(['y']);
    expect(existsSync(plan.sandbox.path)).toBe(false);
  });
});

describe('a sandbox that is edited by hand', () => {
  test('while apply asks: the result is stale, and nothing is written', async () => {
    await using scene = await planScene();
    const plan = await complete(scene, [write('brought', 'b')]);
    const at = (path: string) => join(plan.sandbox.path, path);
    const confirm = () => {
      writeFileSync(at('brought'), 'better');
      writeFileSync(at('more'), 'by hand');
      return true;
    };
    await expect(scene.plans.apply(plan.id, { confirm })).rejects.toMatchObject({
      code: 'PLAN_STALE',
      message: expect.stringContaining(plan.sandbox.path),
    });
    expect(existsSync(join(scene.root, 'brought'))).toBe(false);
    const applied = await scene.plans.apply(plan.id, { confirm: () => true });
    expect(applied.plan).toMatchObject({ state: 'applied', sandbox: { state: 'removed' } });
    expect(readFileSync(join(scene.root, 'brought'), 'utf8')).toBe('better');
    expect(readFileSync(join(scene.root, 'more'), 'utf8')).toBe('by hand');
  });

  test.each(['apply', 'cancel'] as const)('at any moment of %s keeps that', async (what) => {
    let at = 0;
    let calls = 0;
    let late = () => {};
    await using scene = await planScene({
      stepHook: () => {
        calls += 1;
        if (calls === at) late();
      },
    });
    const end = async (moment: number) => {
      const plan = await complete(scene, [write('brought', `b${moment}`)]);
      let wrote = false;
      late = () => {
        if (!existsSync(join(plan.sandbox.path, 'brought'))) return;
        writeFileSync(join(plan.sandbox.path, `late-${moment}`), 'l');
        wrote = true;
      };
      [calls, at] = [0, moment];
      await scene.plans[what](plan.id).catch((error: unknown) => {
        if (!isWaymarkError(error, 'PLAN_STALE')) throw error;
      });
      at = 0;
      return { plan, wrote };
    };
    await end(Number.MAX_SAFE_INTEGER);
    const total = calls;
    let written = 0;
    for (const moment of spread(total, MOMENTS).map((n) => n + 1)) {
      const { plan, wrote } = await end(moment);
      if (!wrote) continue;
      written += 1;
      const name = `late-${moment}`;
      const kept = [plan.sandbox.path, scene.root].some((root) => existsSync(join(root, name)));
      expect(kept || (await isHeld(scene, name)), `${name} of ${total}`).toBe(true);
    }
    expect(written).toBeGreaterThan(0);
  });
});

async function isHeld(scene: PlanScene, path: string): Promise<boolean> {
  const workspace = await scene.workspace();
  for (const { id } of await workspace.listCheckpoints({ everywhere: true })) {
    const { entries } = await workspace.showCheckpoint(id);
    if (entries.some(([entry]) => entry === path)) return true;
  }
  return false;
}

describe('cancel keeps', () => {
  test.each([
    ['filesystem_copy', 'an ignored file', 'echo r > data/result'],
    ['filesystem_copy', 'a commit', `${commit} -m y`],
    ['git_worktree', 'a repository of its own', `mkdir r; cd r; git init -q; ${commit} -m y`],
    ['git_worktree', 'a content that is only staged', 'echo s > tracked; git add tracked; echo t > tracked'],
    ['git_worktree', 'a secret', 'echo P > signing.key'],
  ])('a %s that holds %s', async (sandbox, _, command) => {
    await using scene = await planScene();
    repository(scene);
    const file = scene.planFile({ sandbox, steps: [shell(`${command}`), shell('exit 1')] });
    const plan = await scene.plans.run({ file, workspace: scene.root });
    expect(plan.state).toBe('errored');
    expect(await scene.plans.cancel(plan.id)).toMatchObject({
      state: 'cancelled',
      sandbox: { state: 'ready' },
    });
    expect(existsSync(plan.sandbox.path)).toBe(true);
  });

  test('nothing of a worktree whose commits stay on its branch', async () => {
    await using scene = await planScene();
    repository(scene);
    const file = scene.planFile({ steps: [shell(`echo x > ignored; ${commit} -m y`), shell('exit 1')] });
    const plan = await scene.plans.run({ file, workspace: scene.root, worktree: true });
    expect(await scene.plans.cancel(plan.id)).toMatchObject({ sandbox: { state: 'removed' } });
    expect(existsSync(plan.sandbox.path)).toBe(false);
    const log = execFileSync('git', ['log', '--format=%s', plan.sandbox.branch ?? ''], { cwd: scene.root });
    expect(log.toString()).toBe('y\nx\n');
  });
});

test.each(['filesystem_copy', 'git_worktree'])(
  'cancel finishes the removal of a %s that a kill interrupted, and looks again before',
  async (sandbox) => {
    await using scene = await planScene();
    repository(scene);
    for (const late of [false, true]) {
      const file = scene.planFile({ sandbox, steps: [write('a', 'a'), shell('exit 1')] });
      const plan = await scene.plans.run({ file, workspace: scene.root });
      const { path } = plan.sandbox;
      if (late) writeFileSync(join(path, 'late.key'), 'K');
      renameSync(path, asidePath(path));
      expect(await scene.plans.cancel(plan.id)).toMatchObject({
        sandbox: { state: late ? 'ready' : 'removed' },
      });
      expect([existsSync(path), existsSync(asidePath(path))]).toEqual([late, false]);
    }
  },
);
