import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { PlanEvent } from '../../src/domain/plan-event.ts';
import { type PlanScene, planScene } from '../support/plan-scene.ts';

const text = (scene: PlanScene, path: string) => readFileSync(join(scene.root, path), 'utf8');

const typesOf = async (scene: PlanScene, planId: string) =>
  (await scene.plans.checkpoints.listCheckpoints({ planId: scene.plans.find(planId).id }))
    .map(({ checkpointType }) => checkpointType)
    .toReversed();

const write = (path: string, content: string) => ({ tool: 'write_file', path, content });

describe('subplans one after another', () => {
  test('share the sandbox, take pre_subplan once and their own checkpoints as usual', async () => {
    await using scene = await planScene();
    const plan = await scene.plans.run({
      file: scene.planFile({
        steps: [
          write('a', '1'),
          {
            subplan: {
              name: 'inner',
              steps: [
                write('b', '2'),
                {
                  tool: 'shell',
                  command: `echo x >> ${scene.outside}/tries; test $(wc -l < ${scene.outside}/tries) -ge 3`,
                },
              ],
            },
            retry: 2,
          },
          write('c', '3'),
        ],
      }),
      workspace: scene.root,
    });
    expect(plan).toMatchObject({ state: 'complete', error: null });
    const [, spawn] = scene.plans.tree(plan.id).decisions;
    const child = spawn?.plans[0];
    expect(spawn?.plans).toHaveLength(1);
    expect(child?.plan).toMatchObject({ state: 'complete', sandbox: { owner: 'shared', path: scene.root } });
    expect(
      child?.decisions.map(({ decision }) => [decision.kind, decision.attempts, decision.parentId]),
    ).toEqual([
      ['write_file', 1, spawn?.decision.id],
      ['shell', 3, spawn?.decision.id],
    ]);
    expect((await typesOf(scene, plan.id)).filter((type) => type === 'pre_subplan')).toHaveLength(1);
    expect((await typesOf(scene, child?.plan.id ?? '')).filter((type) => type === 'on_error')).toHaveLength(
      2,
    );
  });

  test('fail the plan that spawned them, and are resumed where they failed', async () => {
    await using scene = await planScene();
    const plan = await scene.plans.run({
      file: scene.planFile({
        steps: [
          {
            subplan: {
              name: 'inner',
              steps: [write('b', '2'), { tool: 'shell', command: `test -e ${scene.outside}/go` }],
            },
          },
        ],
      }),
      workspace: scene.root,
    });
    expect(plan).toMatchObject({
      state: 'errored',
      error: { code: 'COMMAND_FAILED', message: expect.stringMatching(/Subplan "inner".*Step 2/) },
    });
    writeFileSync(join(scene.outside, 'go'), '');
    expect(await scene.plans.resume(plan.id)).toMatchObject({ state: 'complete' });
    const [spawn] = scene.plans.tree(plan.id).decisions;
    expect(spawn?.plans[0]?.decisions.map(({ decision }) => decision.attempts)).toEqual([1, 2]);
  });
});

describe('subplans side by side', () => {
  const lanes = (...files: readonly string[]) =>
    files.map((file) => ({ name: file, steps: [write(file, file)] }));

  test('have sandboxes of their own and their results are brought back', async () => {
    await using scene = await planScene();
    scene.put({ base: 'base', 'node_modules/x/y': 'dep' });
    const events: PlanEvent[] = [];
    const plan = await scene.plans.run({
      file: scene.planFile({
        steps: [
          write('before', 'b'),
          {
            parallel: [
              {
                name: 'one',
                steps: [
                  { tool: 'shell', command: 'cat before node_modules/x/y > one; test ! -e two; rm base' },
                ],
              },
              { name: 'two', steps: [{ tool: 'shell', command: 'cat before > two; test ! -e one' }] },
            ],
          },
          { tool: 'shell', command: 'cat one two > after' },
        ],
      }),
      workspace: scene.root,
      onEvent: (event) => events.push(event),
    });
    expect(plan.error).toBeNull();
    expect(text(scene, 'after')).toBe('bdepb');
    expect(existsSync(join(scene.root, 'base'))).toBe(false);
    const group = scene.plans.tree(plan.id).decisions[1];
    expect(group?.decision).toMatchObject({ kind: 'parallel', state: 'complete' });
    expect(group?.children.map(({ decision }) => [decision.kind, decision.state, decision.lane])).toEqual([
      ['subplan', 'complete', 0],
      ['subplan', 'complete', 1],
    ]);
    for (const { plans } of group?.children ?? []) {
      expect(plans[0]?.plan).toMatchObject({ phase: 'apply', state: 'applied', sandbox: { owner: 'own' } });
      expect(await typesOf(scene, plans[0]?.plan.id ?? '')).toEqual(['pre_write', 'post_step']);
    }
    const order = events
      .filter(
        ({ planId, kind }) => planId === plan.id && (kind === 'wave_entered' || kind === 'checkpoint_taken'),
      )
      .map(({ kind, data }) => data['checkpoint_type'] ?? kind);
    expect(order.slice(3, 6)).toEqual(['pre_subplan', 'pre_subplan', 'wave_entered']);
    expect(readdirSync(scene.root).includes('.waymark')).toBe(true);
  });

  test('are taken back with the run as a whole', async () => {
    await using scene = await planScene();
    scene.put({ keep: 'k' });
    const plan = await scene.plans.run({
      file: scene.planFile({ steps: [{ parallel: lanes('x', 'y') }] }),
      workspace: scene.root,
    });
    expect(plan.state).toBe('complete');
    const list = await scene.plans.checkpoints.listCheckpoints({ planId: plan.id });
    const start = list.find(({ checkpointType }) => checkpointType === 'run_start');
    const { changesReverted } = await scene.plans.rollback({
      plan: plan.id,
      checkpoint: start?.checkpointId ?? '',
    });
    expect(changesReverted).toEqual(['x', 'y']);
    expect(await scene.plans.resume(plan.id)).toMatchObject({ state: 'complete' });
    expect(text(scene, 'x')).toBe('x');
  });

  test('that disagree about a path fail the plan, and nothing is brought', async () => {
    await using scene = await planScene();
    scene.put({ f: 'base' });
    const plan = await scene.plans.run({
      file: scene.planFile({
        steps: [
          {
            parallel: [
              { name: 'p', steps: [write('f', '1')] },
              { name: 'q', steps: [write('f', '2'), write('g', '')] },
            ],
          },
        ],
      }),
      workspace: scene.root,
    });
    expect(plan).toMatchObject({
      state: 'errored',
      error: {
        code: 'BUSINESS_RULE_VIOLATION',
        message: expect.stringMatching(/"p" and "q" both changed f/),
      },
    });
    expect(text(scene, 'f')).toBe('base');
    expect(existsSync(join(scene.root, 'g'))).toBe(false);
  });

  test('that fail are resumed alone', async () => {
    await using scene = await planScene();
    const log = join(scene.outside, 'log');
    const plan = await scene.plans.run({
      file: scene.planFile({
        steps: [
          {
            parallel: [
              { name: 'good', steps: [{ tool: 'shell', command: `echo good >> ${log}; echo > good` }] },
              {
                name: 'bad',
                steps: [
                  { tool: 'shell', command: `echo bad >> ${log}; test -e ${scene.outside}/go` },
                  write('bad', ''),
                ],
              },
            ],
          },
        ],
      }),
      workspace: scene.root,
    });
    expect(plan).toMatchObject({ state: 'errored', error: { message: expect.stringContaining('"bad"') } });
    expect(existsSync(join(scene.root, 'good'))).toBe(false);
    writeFileSync(join(scene.outside, 'go'), '');
    expect(await scene.plans.resume(plan.id)).toMatchObject({ state: 'complete' });
    expect(
      readdirSync(scene.root)
        .filter((name) => name !== '.waymark')
        .toSorted(),
    ).toEqual(['bad', 'good']);
    expect(readFileSync(log, 'utf8').split('\n').filter(Boolean).toSorted()).toEqual(['bad', 'bad', 'good']);
  });

  test('in a shared sandbox skip their triggers, and status says why', async () => {
    await using scene = await planScene();
    const plan = await scene.plans.run({
      file: scene.planFile({ steps: [{ parallel: lanes('x', 'y'), sandbox: 'shared' }] }),
      workspace: scene.root,
    });
    expect(plan.error).toBeNull();
    const { checkpointsMissed, children } = scene.plans.status(plan.id);
    expect(children).toHaveLength(2);
    for (const child of children) expect(await typesOf(scene, child.id)).toEqual([]);
    expect(checkpointsMissed.map(({ kind, data }) => [kind, data['reason']])).toEqual(
      Array(4).fill(['checkpoint_skipped', 'wave']),
    );
    expect((await typesOf(scene, plan.id)).filter((type) => type === 'pre_subplan')).toHaveLength(2);
  });

  test('run no more at once than they may', async () => {
    await using scene = await planScene();
    const step = {
      tool: 'shell',
      command: `mkdir ${scene.outside}/lock && sleep 0.1 && rmdir ${scene.outside}/lock`,
    };
    const plan = await scene.plans.run({
      file: scene.planFile({
        steps: [
          {
            parallel: ['a', 'b', 'c'].map((name) => ({ name, steps: [step] })),
            max_parallel: 1,
            sandbox: 'shared',
          },
        ],
      }),
      workspace: scene.root,
    });
    expect(plan.error).toBeNull();
  });

  test('may have git worktrees, which carry the uncommitted state', async () => {
    await using scene = await planScene();
    const git = (...args: readonly string[]) =>
      execFileSync('git', args, { cwd: scene.root, encoding: 'utf8' });
    git('init', '-q');
    scene.put({ tracked: 'committed' });
    git('add', '.');
    git('-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-qm', 'x');
    scene.put({ tracked: 'edited', untracked: 'new' });
    const plan = await scene.plans.run({
      file: scene.planFile({
        steps: [
          {
            subplan: { name: 'w', steps: [{ tool: 'shell', command: 'cat tracked untracked > out' }] },
            sandbox: 'git_worktree',
          },
        ],
      }),
      workspace: scene.root,
    });
    expect(plan.error).toBeNull();
    expect(text(scene, 'out')).toBe('editednew');
    expect(git('branch', '--show-current').trim()).not.toMatch(/waymark/);
  });
});

describe('rollback among subplans', () => {
  test('in the sandbox of one lane leaves the others, and the lane runs on from there', async () => {
    await using scene = await planScene();
    const log = join(scene.outside, 'log');
    const lane = (name: string, more = '') => ({
      name,
      steps: [1, 2].map((n) => ({
        tool: 'shell',
        command: `echo ${name}${n} >> ${log}; echo ${n} > ${name}${n}${n === 2 ? more : ''}`,
      })),
    });
    const plan = await scene.plans.run({
      file: scene.planFile({
        steps: [{ parallel: [lane('a'), lane('b', `; test -e ${scene.outside}/go`)] }],
      }),
      workspace: scene.root,
    });
    expect(plan.state).toBe('errored');
    const [, failed] = scene.plans.tree(plan.id).decisions[0]?.children ?? [];
    const child = failed?.plans[0];
    const first = child?.decisions[0]?.decision;
    const before = (
      await scene.plans.checkpoints.listCheckpoints({ planId: scene.plans.find(child?.plan.id ?? '').id })
    ).find(({ decisionId, checkpointType }) => decisionId === first?.id && checkpointType === 'pre_write');
    const result = await scene.plans.rollback({
      plan: child?.plan.id ?? '',
      checkpoint: before?.checkpointId ?? '',
    });
    expect(result.changesReverted).toEqual(['b1', 'b2']);
    expect(scene.plans.find(plan.id)).toMatchObject({ phase: 'execute', state: 'queued' });
    writeFileSync(join(scene.outside, 'go'), '');
    expect(await scene.plans.resume(plan.id)).toMatchObject({ state: 'complete' });
    expect(readFileSync(log, 'utf8').trim().split('\n').toSorted()).toEqual([
      'a1',
      'a2',
      'b1',
      'b1',
      'b2',
      'b2',
    ]);
    expect(
      readdirSync(scene.root)
        .filter((name) => name !== '.waymark')
        .toSorted(),
    ).toEqual(['a1', 'a2', 'b1', 'b2']);
  });

  test('replaces everything below a group that is reverted, and its safety checkpoint brings it back', async () => {
    await using scene = await planScene();
    const plan = await scene.plans.run({
      file: scene.planFile({
        steps: [{ parallel: ['x', 'y'].map((name) => ({ name, steps: [write(name, name)] })) }],
      }),
      workspace: scene.root,
    });
    const group = scene.plans.tree(plan.id).decisions[0];
    const lanes = group?.children ?? [];
    const list = await scene.plans.checkpoints.listCheckpoints({ planId: plan.id });
    const spawn = list.find(({ decisionId }) => decisionId === lanes[0]?.decision.id);
    expect(spawn?.checkpointType).toBe('pre_subplan');
    const start = list.at(-1);
    const result = await scene.plans.rollback({ plan: plan.id, checkpoint: start?.checkpointId ?? '' });
    expect(result.rolledBack).toHaveLength(5);
    expect(result.invalidatedPlans).toHaveLength(2);
    expect(readdirSync(scene.root)).toEqual(['.waymark']);
    await scene.plans.rollback({ plan: plan.id, checkpoint: result.safetyCheckpointId ?? '' });
    expect(text(scene, 'x')).toBe('x');
    const again = scene.plans.tree(plan.id).decisions[0];
    expect(again?.decision.mark).toBeNull();
    expect(again?.children.flatMap(({ plans }) => plans[0]?.decisions[0]?.decision.mark)).toEqual([
      null,
      null,
    ]);
    expect(await scene.plans.resume(plan.id)).toMatchObject({ state: 'complete' });
    expect(scene.plans.tree(plan.id).decisions).toHaveLength(1);
  });

  test('a subplan that runs too long is ended', async () => {
    await using scene = await planScene();
    const plan = await scene.plans.run({
      file: scene.planFile({
        steps: [
          { subplan: { name: 's', steps: [{ tool: 'shell', command: 'sleep 30' }] }, timeout: '500ms' },
        ],
      }),
      workspace: scene.root,
    });
    expect(plan).toMatchObject({
      state: 'errored',
      error: { code: 'COMMAND_FAILED', message: expect.stringContaining('ran longer than 500 ms') },
    });
  });
});
