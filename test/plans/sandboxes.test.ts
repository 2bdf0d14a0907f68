import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type PlanScene, planScene } from '../support/plan-scene.ts';

const text = (scene: PlanScene, path: string) => readFileSync(join(scene.root, path), 'utf8');
const write = (path: string, content: string) => ({ tool: 'write_file', path, content });

const git = (scene: PlanScene, ...args: readonly string[]) =>
  execFileSync('git', args, { cwd: scene.root, encoding: 'utf8' });

function repository(scene: PlanScene): void {
  git(scene, 'init', '-q', '-b', 'main');
  scene.put({ tracked: 'committed\n' });
  git(scene, 'add', '.');
  git(scene, '-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-qm', 'x');
}

describe('filesystem_copy', () => {
  test('keeps the workspace untouched until the result is applied', async () => {
    await using scene = await planScene();
    scene.put({ a: 'a', gone: 'x', 'node_modules/m': 'm' });
    symlinkSync('a', join(scene.root, 'link'));
    const file = scene.planFile({
      sandbox: 'filesystem_copy',
      steps: [write('a', 'changed'), write('d/new', 'n'), { tool: 'delete_file', path: 'gone' }],
    });
    const plan = await scene.plans.run({ file, workspace: scene.root });
    expect(plan).toMatchObject({
      state: 'complete',
      sandbox: { strategy: 'filesystem_copy', state: 'ready' },
    });
    expect(text(scene, 'a')).toBe('a');
    expect(lstatSync(join(plan.sandbox.path, 'link')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(plan.sandbox.path, 'node_modules/m'), 'utf8')).toBe('m');
    expect((await scene.plans.diff(plan.id)).changes.map(({ path, action }) => [path, action])).toEqual([
      ['a', 'modify'],
      ['d', 'create'],
      ['d/new', 'create'],
      ['gone', 'delete'],
    ]);

    const dry = await scene.plans.apply(plan.id, { dryRun: true });
    expect(dry.result?.changes).toHaveLength(4);
    expect(text(scene, 'a')).toBe('a');
    const applied = await scene.plans.apply(plan.id);
    expect(applied.plan).toMatchObject({ phase: 'apply', state: 'applied', sandbox: { state: 'removed' } });
    expect(applied.result?.safetyCheckpointId).not.toBeNull();
    expect(text(scene, 'a')).toBe('changed');
    expect(text(scene, 'd/new')).toBe('n');
    expect(existsSync(join(scene.root, 'gone'))).toBe(false);
    expect(existsSync(plan.sandbox.path)).toBe(false);
    await expect(scene.plans.apply(plan.id)).rejects.toMatchObject({ code: 'BUSINESS_RULE_VIOLATION' });

    await (await scene.workspace()).undo({ confirm: 'always' });
    expect(text(scene, 'a')).toBe('a');
    expect(text(scene, 'gone')).toBe('x');
    expect(existsSync(join(scene.root, 'd'))).toBe(false);
  });

  test('leaves what was changed in the workspace meanwhile, and can be applied again', async () => {
    await using scene = await planScene();
    scene.put({ a: 'a', b: 'b' });
    const file = scene.planFile({ sandbox: 'filesystem_copy', steps: [write('a', 'A'), write('b', 'B')] });
    const plan = await scene.plans.run({ file, workspace: scene.root });
    scene.put({ a: 'mine' });
    const part = await scene.plans.apply(plan.id);
    expect(part.plan.state).toBe('complete');
    expect(part.result?.skipped).toMatchObject([{ path: 'a', reason: 'conflict' }]);
    expect([text(scene, 'a'), text(scene, 'b')]).toEqual(['mine', 'B']);
    scene.put({ a: 'a' });
    expect((await scene.plans.apply(plan.id)).plan.state).toBe('applied');
    expect(text(scene, 'a')).toBe('A');
  });

  test('is merged with what was changed in the workspace meanwhile, where the changes do not touch', async () => {
    await using scene = await planScene();
    const lines = (...texts: readonly string[]) => texts.map((line) => `${line}\n`).join('');
    scene.put({ f: lines('1', '2', '3', '4', '5'), g: lines('1') });
    const file = scene.planFile({
      sandbox: 'filesystem_copy',
      steps: [write('f', lines('plan', '2', '3', '4', '5')), write('g', lines('plan'))],
    });
    const plan = await scene.plans.run({ file, workspace: scene.root });
    scene.put({ f: lines('1', '2', '3', '4', 'mine'), g: lines('mine') });
    const dry = await scene.plans.apply(plan.id, { dryRun: true });
    expect(dry.result).toMatchObject({ changes: [{ path: 'f' }], skipped: [{ path: 'g' }] });
    expect(text(scene, 'f')).toBe(lines('1', '2', '3', '4', 'mine'));
    const asked: number[] = [];
    const part = await scene.plans.apply(plan.id, {
      confirm: ({ plan: shown }) => asked.push(shown.actions.length) > 0,
    });
    expect(asked).toEqual([1]);
    expect(part.result).toMatchObject({ merged: ['f'], skipped: [{ path: 'g', reason: 'conflict' }] });
    expect(part.plan.state).toBe('complete');
    expect(text(scene, 'f')).toBe(lines('plan', '2', '3', '4', 'mine'));
    scene.put({ g: lines('1') });
    expect(await scene.plans.apply(plan.id)).toMatchObject({ plan: { state: 'applied' } });
    expect([text(scene, 'f'), text(scene, 'g')]).toEqual([
      lines('plan', '2', '3', '4', 'mine'),
      lines('plan'),
    ]);
    expect(
      (await (await scene.workspace()).listCheckpoints()).filter(
        ({ metadata }) => metadata.reason === 'worktree-apply',
      ),
    ).toEqual([]);
  });

  test('brings files beyond the limits of captures', async () => {
    await using scene = await planScene({ toml: '[limits]\nmax_file_bytes = "1KiB"\nmax_files = 2\n' });
    scene.put({ big: 'a'.repeat(2000), same: 'b'.repeat(2000) });
    const steps = [write('big', 'c'.repeat(2000)), write('new', 'd'.repeat(2000))];
    const file = scene.planFile({ sandbox: 'filesystem_copy', steps });
    const plan = await scene.plans.run({ file, workspace: scene.root });
    const applied = await scene.plans.apply(plan.id);
    expect(applied).toMatchObject({ plan: { state: 'applied' }, result: { skipped: [] } });
    expect(applied.result?.changes.map(({ path }) => path)).toEqual(['big', 'new']);
    expect([text(scene, 'big'), text(scene, 'new')]).toEqual(['c'.repeat(2000), 'd'.repeat(2000)]);
  });

  test('cannot be applied before it is complete', async () => {
    await using scene = await planScene();
    const file = scene.planFile({
      sandbox: 'filesystem_copy',
      steps: [{ tool: 'shell', command: 'exit 1' }],
    });
    const plan = await scene.plans.run({ file, workspace: scene.root });
    expect(existsSync(plan.sandbox.path)).toBe(true);
    await expect(scene.plans.apply(plan.id)).rejects.toMatchObject({
      code: 'BUSINESS_RULE_VIOLATION',
      message: expect.stringContaining('errored'),
    });
  });

  test('is removed by cancel after a final checkpoint that still has everything', async () => {
    await using scene = await planScene();
    const file = scene.planFile({
      sandbox: 'filesystem_copy',
      steps: [write('a', 'A'), { tool: 'shell', command: 'exit 1' }],
    });
    const plan = await scene.plans.run({ file, workspace: scene.root });
    expect(await scene.plans.cancel(plan.id)).toMatchObject({
      state: 'cancelled',
      sandbox: { state: 'removed' },
    });
    expect(existsSync(plan.sandbox.path)).toBe(false);
    const [last] = await scene.plans.checkpoints.listCheckpoints({ planId: plan.id });
    expect(last).toMatchObject({ checkpointType: 'manual', metadata: { reason: 'pre-cancel' } });
    const into = join(scene.outside, 'out');
    await (await scene.workspace()).restore({
      checkpoint: last?.checkpointId ?? '',
      into,
      confirm: 'always',
    });
    expect(readFileSync(join(into, 'a'), 'utf8')).toBe('A');
  });

  test('stays after cancel where it holds a secret that is nowhere else', async () => {
    await using scene = await planScene();
    scene.put({ '.env': 'KEY=1' });
    const make = (content: string) =>
      scene.planFile({
        sandbox: 'filesystem_copy',
        steps: [write('.env', content), { tool: 'shell', command: 'exit 1' }],
      });
    const same = await scene.plans.run({ file: make('KEY=1'), workspace: scene.root });
    await scene.plans.cancel(same.id);
    expect(existsSync(same.sandbox.path)).toBe(false);
    const other = await scene.plans.run({ file: make('KEY=2'), workspace: scene.root });
    expect(await scene.plans.cancel(other.id)).toMatchObject({
      state: 'cancelled',
      sandbox: { state: 'ready' },
    });
    expect(readFileSync(join(other.sandbox.path, '.env'), 'utf8')).toBe('KEY=2');
  });

  test.each(['repository', 'linked worktree', 'link to a repository'])(
    'gives the copy of a %s a repository of its own, and never the one that it was copied from',
    async (kind) => {
      await using scene = await planScene();
      repository(scene);
      scene.put({ 'dist/committed': 'c' });
      git(scene, 'add', '-f', 'dist/committed');
      const workspace = kind === 'repository' ? scene.root : join(scene.outside, 'other');
      if (kind === 'linked worktree') git(scene, 'worktree', 'add', '-q', workspace);
      if (kind === 'link to a repository') {
        cpSync(scene.root, workspace, { recursive: true });
        rmSync(join(workspace, '.git'), { recursive: true });
        symlinkSync(join(scene.root, '.git'), join(workspace, '.git'));
      }
      const repositoryNow = () =>
        git(scene, 'for-each-ref') + git(scene, 'rev-parse', 'HEAD') + git(scene, 'status', '--porcelain');
      const before = repositoryNow();
      const commit = 'git -c user.name=x -c user.email=x@x commit -qam y';
      const file = scene.planFile({
        sandbox: 'filesystem_copy',
        steps: [
          { tool: 'shell', command: `echo x >> tracked; ${commit}; git fsck > .log && git log --oneline` },
        ],
      });
      const plan = await scene.plans.run({ file, workspace });
      expect(plan.error).toBeNull();
      const [call] = scene.plans.tree(plan.id).decisions[0]?.toolCalls ?? [];
      expect(call?.output.trim().split('\n')).toHaveLength(2);
      expect(repositoryNow()).toBe(before);
      expect(lstatSync(join(plan.sandbox.path, '.git')).isDirectory()).toBe(true);
    },
  );

  test('refuses a .waymark that leads elsewhere', async () => {
    await using scene = await planScene();
    symlinkSync(scene.outside, join(scene.root, '.waymark'));
    const file = scene.planFile({ sandbox: 'filesystem_copy', steps: [write('a', '')] });
    await expect(scene.plans.run({ file, workspace: scene.root })).rejects.toMatchObject({
      code: 'UNSAFE_PATH',
    });
    expect(readdirSync(scene.outside)).toEqual([]);
  });
});

test('filesystem_copy of a directory inside a repository sees what is committed although its name is pruned', async () => {
  await using scene = await planScene();
  repository(scene);
  scene.put({ 'sub/a': 'a', 'sub/dist/committed': 'old\n', 'sub/dist/built': 'built' });
  git(scene, 'add', '-f', 'sub/a', 'sub/dist/committed');
  git(scene, '-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-qm', 'y');
  const file = scene.planFile({
    sandbox: 'filesystem_copy',
    steps: [write('dist/committed', 'new\n'), write('a', 'b')],
  });
  const plan = await scene.plans.run({ file, workspace: join(scene.root, 'sub') });
  expect((await scene.plans.diff(plan.id)).changes.map(({ path }) => path)).toEqual(['a', 'dist/committed']);
  await scene.plans.apply(plan.id);
  expect([text(scene, 'sub/a'), text(scene, 'sub/dist/committed')]).toEqual(['b', 'new\n']);
});

describe('git_worktree', () => {
  test('runs off HEAD on a branch of its own and is applied to the workspace', async () => {
    await using scene = await planScene();
    repository(scene);
    scene.put({ untracked: 'mine' });
    const file = scene.planFile({ name: 'w', steps: [write('tracked', 'changed\n'), write('new', 'n')] });
    const plan = await scene.plans.run({ file, workspace: scene.root, worktree: true });
    expect(plan).toMatchObject({
      error: null,
      sandbox: { strategy: 'git_worktree', branch: `waymark/plan-${plan.id.toLowerCase()}` },
    });
    expect(plan.sandbox.path).toBe(
      join(scene.root, '.waymark', 'worktrees', `plan-${plan.id.toLowerCase()}`),
    );
    expect(text(scene, 'tracked')).toBe('committed\n');
    expect(existsSync(join(plan.sandbox.path, 'untracked'))).toBe(false);
    const workspace = await scene.waymark.openWorkspace(scene.root);
    const [listed] = await workspace.worktrees();
    expect(listed).toMatchObject({ state: 'sandbox', detail: expect.stringContaining(plan.id) });
    await expect(workspace.worktreeRemove(listed?.runId ?? '')).rejects.toMatchObject({
      code: 'WORKTREE_NOT_SAFE',
      hint: expect.stringContaining(`waymark plan cancel ${plan.id}`),
    });
    const applied = await scene.plans.apply(plan.id);
    expect(applied.plan.state).toBe('applied');
    expect(text(scene, 'tracked')).toBe('changed\n');
    expect(text(scene, 'untracked')).toBe('mine');
    expect(git(scene, 'diff', '--cached')).toBe('');
  });

  test('gets what its parallel subplans did, also in directories that are pruned but committed', async () => {
    await using scene = await planScene();
    repository(scene);
    scene.put({ 'dist/committed': 'old\n' });
    git(scene, 'add', '-f', 'dist/committed');
    git(scene, '-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-qm', 'y');
    const file = scene.planFile({
      steps: [
        write('uncommitted', 'u'),
        {
          parallel: [
            { name: 'x', steps: [{ tool: 'shell', command: 'cat tracked uncommitted > x; git add x' }] },
            { name: 'y', steps: [write('dist/committed', 'new\n')] },
          ],
        },
        { tool: 'shell', command: 'cat x dist/committed' },
      ],
    });
    const plan = await scene.plans.run({ file, workspace: scene.root, worktree: true });
    expect(plan.error).toBeNull();
    const [call] = scene.plans.tree(plan.id).decisions[2]?.toolCalls ?? [];
    expect(call?.output).toBe('committed\nunew\n');
    await scene.plans.apply(plan.id);
    expect([text(scene, 'x'), text(scene, 'dist/committed')]).toEqual(['committed\nu', 'new\n']);
  });

  test('keeps the worktree of a plan that failed, for rollback, and removes it with cancel', async () => {
    await using scene = await planScene();
    repository(scene);
    const file = scene.planFile({ steps: [write('new', 'n'), { tool: 'shell', command: 'exit 1' }] });
    const plan = await scene.plans.run({ file, workspace: scene.root, worktree: true });
    expect(plan.state).toBe('errored');
    const list = await scene.plans.checkpoints.listCheckpoints({ planId: plan.id });
    const first = list.find(({ checkpointType }) => checkpointType === 'pre_write');
    const start = list.find(({ checkpointType }) => checkpointType === 'run_start');
    expect(first).toBeDefined();
    await scene.plans.rollback({ plan: plan.id, checkpoint: start?.checkpointId ?? '' });
    expect(existsSync(join(plan.sandbox.path, 'new'))).toBe(false);
    scene.put({ '.gitignore': '*.log\n' });
    writeFileSync(join(plan.sandbox.path, '.gitignore'), '*.log\n');
    writeFileSync(join(plan.sandbox.path, 'only-here.log'), 'log');
    await scene.plans.cancel(plan.id);
    expect(existsSync(plan.sandbox.path)).toBe(false);
    const [last] = await scene.plans.checkpoints.listCheckpoints({ planId: plan.id });
    const into = join(scene.outside, 'out');
    await (await scene.workspace()).restore({
      checkpoint: last?.checkpointId ?? '',
      into,
      confirm: 'always',
    });
    expect(readFileSync(join(into, 'only-here.log'), 'utf8')).toBe('log');
    expect(git(scene, 'worktree', 'list').trim().split('\n')).toHaveLength(1);
    await expect(
      scene.plans.rollback({ plan: plan.id, checkpoint: start?.checkpointId ?? '' }),
    ).rejects.toMatchObject({
      message: expect.stringMatching(/^Rollback blocked: sandbox is missing/),
    });
  });

  test('is set up by the configured command', async () => {
    await using scene = await planScene({ toml: '[worktree]\nsetup = "echo ready > setup.txt"\n' });
    repository(scene);
    const file = scene.planFile({ steps: [{ tool: 'shell', command: 'cat setup.txt > out.txt' }] });
    const plan = await scene.plans.run({ file, workspace: scene.root, worktree: true });
    expect(plan.error).toBeNull();
    // What the setup made is no result of the plan.
    expect((await scene.plans.diff(plan.id)).changes.map(({ path }) => path)).toEqual(['out.txt']);
  });

  test('says that it needs a repository', async () => {
    await using scene = await planScene();
    const file = scene.planFile({ steps: [write('a', '')] });
    await expect(scene.plans.run({ file, workspace: scene.root, worktree: true })).rejects.toMatchObject({
      code: 'NOT_A_REPOSITORY',
    });
    const [plan] = scene.plans.list();
    expect(plan).toMatchObject({ state: 'errored', error: { code: 'NOT_A_REPOSITORY' } });
  });
});

test('none runs in the workspace itself and cannot be removed', async () => {
  await using scene = await planScene();
  const file = scene.planFile({ steps: [write('a', 'A')] });
  const plan = await scene.plans.run({ file, workspace: scene.root });
  expect(plan.sandbox).toMatchObject({ strategy: 'none', path: scene.root, state: 'ready' });
  expect(await scene.plans.cancel(plan.id)).toMatchObject({
    state: 'cancelled',
    sandbox: { state: 'ready' },
  });
  expect(text(scene, 'a')).toBe('A');
  writeFileSync(join(scene.root, 'a'), 'x');
});
