import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { PlanId } from '../../src/domain/ids.ts';
import { type PlanScene, planScene } from '../support/plan-scene.ts';

const text = (scene: PlanScene, path: string) => readFileSync(join(scene.root, path), 'utf8');

/** Three steps that append to a log outside and write a file each. */
function logged(scene: PlanScene, more: object = {}) {
  const log = join(scene.outside, 'log');
  return scene.planFile({
    name: 'logged',
    steps: [1, 2, 3].map((n) => ({
      tool: 'shell',
      command: `echo ${n} >> ${log}; echo ${n} > f${n}; echo ${n} > last`,
    })),
    ...more,
  });
}

const runsOf = (scene: PlanScene) =>
  readFileSync(join(scene.outside, 'log'), 'utf8').trim().split('\n').join('');

async function checkpointOf(scene: PlanScene, plan: PlanId, step: number, type: 'pre_write' | 'post_step') {
  const decision = scene.plans
    .tree(plan)
    .decisions.filter(({ decision: one }) => one.step === step)
    .at(-1)?.decision.id;
  const all = await scene.plans.checkpoints.listCheckpoints({ planId: plan });
  const found = all.find((one) => one.decisionId === decision && one.checkpointType === type);
  if (found === undefined) throw new Error(`no ${type} of step ${step}`);
  return found.checkpointId;
}

const marks = (scene: PlanScene, plan: string) =>
  scene.plans.tree(plan).decisions.map(({ decision }) => [decision.step, decision.mark]);

describe('plan rollback', () => {
  test('takes files and later decisions back, and what follows runs again', async () => {
    await using scene = await planScene();
    scene.put({ mine: 'mine\n' });
    const plan = await scene.plans.run({ file: logged(scene), workspace: scene.root });
    const checkpoint = await checkpointOf(scene, plan.id, 1, 'pre_write');
    const result = await scene.plans.checkpoints.rollbackToCheckpoint({
      planId: plan.id,
      checkpointId: checkpoint,
    });
    expect(result).toMatchObject({
      planId: plan.id,
      checkpointId: checkpoint,
      restoredFilesCount: 3,
      changesReverted: ['f2', 'f3', 'last'],
      partial: false,
      skipped: [],
      messages: ['Rollback completed successfully.'],
    });
    expect(result.safetyCheckpointId).not.toBeNull();
    expect(result.rolledBack).toHaveLength(2);
    expect(text(scene, 'last')).toBe('1\n');
    expect(text(scene, 'mine')).toBe('mine\n');
    expect(scene.plans.find(plan.id)).toMatchObject({ phase: 'execute', state: 'queued' });
    expect(marks(scene, plan.id)).toEqual([
      [0, null],
      [1, 'rolled_back'],
      [2, 'rolled_back'],
    ]);
    expect((await scene.plans.resume(plan.id)).state).toBe('complete');
    expect(runsOf(scene)).toBe('12323');
    expect(text(scene, 'last')).toBe('3\n');
  });

  test('to a post_step checkpoint keeps its step', async () => {
    await using scene = await planScene();
    const plan = await scene.plans.run({ file: logged(scene), workspace: scene.root });
    const checkpoint = await checkpointOf(scene, plan.id, 1, 'post_step');
    await scene.plans.rollback({ plan: plan.id, checkpoint });
    expect(marks(scene, plan.id)).toEqual([
      [0, null],
      [1, null],
      [2, 'rolled_back'],
    ]);
    expect(existsSync(join(scene.root, 'f2'))).toBe(true);
    expect(existsSync(join(scene.root, 'f3'))).toBe(false);
  });

  test('is taken back by its safety checkpoint: files and decisions', async () => {
    await using scene = await planScene();
    const plan = await scene.plans.run({ file: logged(scene), workspace: scene.root });
    const checkpoint = await checkpointOf(scene, plan.id, 0, 'pre_write');
    const { safetyCheckpointId } = await scene.plans.rollback({ plan: plan.id, checkpoint });
    expect(marks(scene, plan.id).every(([, mark]) => mark === 'rolled_back')).toBe(true);
    await scene.plans.rollback({ plan: plan.id, checkpoint: safetyCheckpointId ?? '' });
    expect(text(scene, 'last')).toBe('3\n');
    expect(marks(scene, plan.id).every(([, mark]) => mark === null)).toBe(true);
    expect((await scene.plans.resume(plan.id)).state).toBe('complete');
    expect(runsOf(scene)).toBe('123');
  });

  test('is taken back by undo, and no step runs twice afterwards', async () => {
    await using scene = await planScene();
    const plan = await scene.plans.run({ file: logged(scene), workspace: scene.root });
    await scene.plans.rollback({
      plan: plan.id,
      checkpoint: await checkpointOf(scene, plan.id, 1, 'pre_write'),
    });
    await (await scene.workspace()).undo({ confirm: 'always' });
    expect(text(scene, 'last')).toBe('3\n');
    expect(scene.plans.tree(plan.id).decisions.map(({ decision }) => decision.mark)).toEqual([
      null,
      null,
      null,
    ]);
    expect(scene.plans.status(plan.id).decisions).toMatchObject({ complete: 3 });
    expect((await scene.plans.resume(plan.id)).state).toBe('complete');
    expect(runsOf(scene)).toBe('123');
  });

  test('is done again by redo', async () => {
    await using scene = await planScene();
    const plan = await scene.plans.run({ file: logged(scene), workspace: scene.root });
    await scene.plans.rollback({
      plan: plan.id,
      checkpoint: await checkpointOf(scene, plan.id, 2, 'pre_write'),
    });
    const workspace = await scene.workspace();
    await workspace.undo({ confirm: 'always' });
    expect(await scene.plans.resume(plan.id)).toMatchObject({ state: 'complete' });
    await workspace.redo({ confirm: 'always' });
    expect(text(scene, 'last')).toBe('2\n');
    expect(await scene.plans.resume(plan.id)).toMatchObject({ state: 'complete' });
    expect(text(scene, 'last')).toBe('3\n');
    expect(runsOf(scene)).toBe('1233');
  });

  test('works again after running on, also to a moment before an earlier rollback', async () => {
    await using scene = await planScene();
    const plan = await scene.plans.run({ file: logged(scene), workspace: scene.root });
    const early = await checkpointOf(scene, plan.id, 1, 'pre_write');
    const late = await checkpointOf(scene, plan.id, 1, 'post_step');
    await scene.plans.rollback({ plan: plan.id, checkpoint: early });
    await scene.plans.resume(plan.id);
    await scene.plans.rollback({ plan: plan.id, checkpoint: late });
    expect(marks(scene, plan.id)).toEqual([
      [0, null],
      [1, null],
      [2, 'rolled_back'],
      [1, 'rolled_back'],
      [2, 'rolled_back'],
    ]);
    await scene.plans.resume(plan.id);
    expect(runsOf(scene)).toBe('123233');
  });

  test('says what it would do without doing it', async () => {
    await using scene = await planScene();
    const plan = await scene.plans.run({ file: logged(scene), workspace: scene.root });
    const checkpoint = await checkpointOf(scene, plan.id, 2, 'pre_write');
    const dry = await scene.plans.rollback({ plan: plan.id, checkpoint, dryRun: true });
    expect(dry).toMatchObject({ dryRun: true, changesReverted: ['f3', 'last'], safetyCheckpointId: null });
    expect(marks(scene, plan.id).every(([, mark]) => mark === null)).toBe(true);
    const real = await scene.plans.rollback({ plan: plan.id, checkpoint });
    expect(real.changes).toEqual(dry.changes);
    expect(real.rolledBack).toEqual(dry.rolledBack);
  });

  test('declined leaves everything', async () => {
    await using scene = await planScene();
    const plan = await scene.plans.run({ file: logged(scene), workspace: scene.root });
    const checkpoint = await checkpointOf(scene, plan.id, 0, 'pre_write');
    await expect(
      scene.plans.rollback({ plan: plan.id, checkpoint, confirm: () => false }),
    ).rejects.toMatchObject({ code: 'DECLINED' });
    expect(scene.plans.find(plan.id).state).toBe('complete');
    expect(text(scene, 'last')).toBe('3\n');
  });

  test('says what it could not take back', async () => {
    await using scene = await planScene();
    const plan = await scene.plans.run({
      file: scene.planFile({ steps: [{ tool: 'write_file', path: 'd/f', content: 'x' }] }),
      workspace: scene.root,
    });
    const file = scene.planFile({ steps: [{ tool: 'shell', command: 'rm -r d; printf x > d' }] });
    const second = await scene.plans.run({ file, workspace: scene.root });
    expect(plan.state).toBe('complete');
    const checkpoint = await checkpointOf(scene, second.id, 0, 'pre_write');
    const result = await scene.plans.rollback({ plan: second.id, checkpoint });
    expect(result.restoredFilesCount).toBe(result.changesReverted.length);
    expect(result.partial).toBe(false);
  });
});

describe('plan rollback is blocked', () => {
  test('with the words of the seed and the id', async () => {
    await using scene = await planScene();
    const plan = await scene.plans.run({ file: logged(scene), workspace: scene.root });
    const other = await scene.plans.run({ file: logged(scene), workspace: scene.root });
    const checkpoint = await checkpointOf(scene, plan.id, 0, 'pre_write');
    const foreign = await checkpointOf(scene, other.id, 0, 'pre_write');
    const to = (name: string) => scene.plans.rollback({ plan: plan.id, checkpoint: name });
    const unknown = '01HXYZ1234567890ABCDEFGHJK';
    for (const name of [unknown, 'nonsense', '../../x', 'C1', '']) {
      await expect(to(name)).rejects.toMatchObject({
        code: 'CHECKPOINT_NOT_FOUND',
        message: expect.stringMatching(/^Not found: checkpoint/),
      });
    }
    await expect(to(foreign)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringMatching(new RegExp(`^Validation Error.*${foreign}`)),
    });
    await expect(scene.plans.rollback({ plan: unknown, checkpoint })).rejects.toMatchObject({
      code: 'PLAN_NOT_FOUND',
    });
    await scene.plans.apply(plan.id);
    await expect(to(checkpoint)).rejects.toMatchObject({
      code: 'BUSINESS_RULE_VIOLATION',
      message: expect.stringMatching(new RegExp(`^Rollback blocked: plan is already applied.*${plan.id}`)),
    });
  });

  test('where the sandbox is missing', async () => {
    await using scene = await planScene();
    scene.put({ a: 'a' });
    const plan = await scene.plans.run({
      file: logged(scene, { sandbox: 'filesystem_copy' }),
      workspace: scene.root,
    });
    expect(plan).toMatchObject({ state: 'complete', sandbox: { strategy: 'filesystem_copy' } });
    const checkpoint = await checkpointOf(scene, plan.id, 0, 'pre_write');
    renameSync(plan.sandbox.path, `${plan.sandbox.path}-gone`);
    await expect(scene.plans.rollback({ plan: plan.id, checkpoint })).rejects.toMatchObject({
      code: 'BUSINESS_RULE_VIOLATION',
      message: expect.stringMatching(/^Rollback blocked: sandbox is missing/),
    });
    renameSync(`${plan.sandbox.path}-gone`, plan.sandbox.path);
    await scene.plans.rollback({ plan: plan.id, checkpoint });
    expect(existsSync(join(plan.sandbox.path, 'f1'))).toBe(false);
    expect(existsSync(join(scene.root, 'f1'))).toBe(false);
  });
});

describe('createCheckpoint()', () => {
  test('captures by hand with the fields of the seed', async () => {
    await using scene = await planScene();
    const plan = await scene.plans.run({ file: logged(scene), workspace: scene.root });
    const taken = await scene.plans.checkpoints.createCheckpoint({
      planId: plan.id,
      checkpointType: 'manual',
      metadata: { reason: 'pre-correction snapshot', phase: 'execute' },
    });
    expect(taken).toMatchObject({
      planId: plan.id,
      checkpointType: 'manual',
      decisionId: null,
      resourceId: null,
      metadata: { reason: 'pre-correction snapshot', sourceTool: null, phase: 'execute', extra: {} },
    });
    writeFileSync(join(scene.root, 'last'), 'by hand\n');
    await scene.plans.rollback({ plan: plan.id, checkpoint: taken.checkpointId });
    expect(text(scene, 'last')).toBe('3\n');
    expect(marks(scene, plan.id).every(([, mark]) => mark === null)).toBe(true);
  });

  test('records a sandbox_ref again, and refuses one that does not resolve', async () => {
    await using scene = await planScene();
    const plan = await scene.plans.run({ file: logged(scene), workspace: scene.root });
    const [newest] = await scene.plans.checkpoints.listCheckpoints({ planId: plan.id });
    const again = await scene.plans.checkpoints.createCheckpoint({
      planId: plan.id,
      checkpointType: 'manual',
      sandboxRef: newest?.sandboxRef ?? '',
    });
    expect(again.checkpointId).not.toBe(newest?.checkpointId);
    expect(again.sizeBytes).toBe(newest?.sizeBytes);
    writeFileSync(join(scene.root, 'last'), 'x');
    await scene.plans.rollback({ plan: plan.id, checkpoint: again.checkpointId });
    expect(text(scene, 'last')).toBe('3\n');
    for (const sandboxRef of ['abc123', 'cas:nobody/0', '../../x', '']) {
      await expect(
        scene.plans.checkpoints.createCheckpoint({ planId: plan.id, checkpointType: 'manual', sandboxRef }),
      ).rejects.toMatchObject({
        code: 'VALIDATION_ERROR',
        message: expect.stringMatching(/^Validation Error/),
      });
    }
  });

  test('keeps at most max_checkpoints, first and newest always', async () => {
    await using scene = await planScene({ toml: '[core.checkpoints]\nmax_checkpoints = 3\n' });
    const plan = await scene.plans.run({
      file: scene.planFile({
        steps: Array.from({ length: 16 }, (_, n) => ({ tool: 'write_file', path: 'f', content: String(n) })),
      }),
      workspace: scene.root,
    });
    const kept = await scene.plans.checkpoints.listCheckpoints({ planId: plan.id });
    expect(kept.at(-1)?.checkpointType).toBe('run_start');
    expect(kept[0]?.checkpointType).toBe('post_step');
    expect(kept).toHaveLength(3);
  });
});
