import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type PlanScene, planScene } from '../support/plan-scene.ts';

const AGENT =
  '[agents]\ndefault = ["sh", "-c", "cat > prompt.txt; cat prompt.txt >> seen.txt; echo >> seen.txt"]\n';

const threeAgents = (scene: PlanScene) =>
  scene.planFile({
    name: 'agents',
    steps: ['first', 'second', 'third'].map((prompt) => ({ tool: 'agent', prompt })),
  });

const seen = (scene: PlanScene) => readFileSync(join(scene.root, 'seen.txt'), 'utf8');

describe('plan correct', () => {
  test('--mode revert goes back to before the decision, replaces it and what follows, and runs on with the guidance', async () => {
    await using scene = await planScene({ toml: AGENT });
    const plan = await scene.plans.run({ file: threeAgents(scene), workspace: scene.root });
    const [first, second, third] = scene.plans.tree(plan.id).decisions.map(({ decision }) => decision);
    const dry = await scene.plans.correct({
      decision: second?.id ?? '',
      mode: 'revert',
      guidance: 'use tabs',
      dryRun: true,
    });
    expect(dry.superseded.map(({ id }) => id)).toEqual([second?.id, third?.id]);
    expect(dry.rollback?.changesReverted).toEqual(['prompt.txt', 'seen.txt']);
    expect(seen(scene)).toBe('first\nsecond\nthird\n');

    const result = await scene.plans.correct({
      decision: second?.id ?? '',
      mode: 'revert',
      guidance: 'use tabs',
    });
    expect(result.plan).toMatchObject({ state: 'complete' });
    expect(result.correction).toMatchObject({
      mode: 'revert',
      state: 'complete',
      replaced: [second?.id, third?.id],
      guidance: 'use tabs',
    });
    expect(seen(scene)).toBe('first\nGuidance:\n- use tabs\n\nsecond\nGuidance:\n- use tabs\n\nthird\n');
    const { decisions, corrections } = scene.plans.tree(plan.id);
    expect(decisions.map(({ decision }) => [decision.step, decision.mark])).toEqual([
      [0, null],
      [1, 'superseded'],
      [2, 'superseded'],
      [1, null],
      [2, null],
    ]);
    expect(decisions[0]?.decision.id).toBe(first?.id);
    expect(corrections).toHaveLength(1);
  });

  test('--mode append reruns nothing; later agents are told', async () => {
    await using scene = await planScene({ toml: AGENT });
    const file = scene.planFile({
      steps: [
        { tool: 'agent', prompt: 'first' },
        { tool: 'shell', command: `test -e ${scene.outside}/go` },
        { tool: 'agent', prompt: 'third' },
      ],
    });
    const plan = await scene.plans.run({ file, workspace: scene.root });
    const [first] = scene.plans.tree(plan.id).decisions;
    const id = first?.decision.id ?? '';
    const result = await scene.plans.correct({ decision: id, mode: 'append', guidance: 'be kind' });
    expect(result).toMatchObject({
      superseded: [],
      correction: { mode: 'append', state: 'complete', replaced: [] },
    });
    expect(seen(scene)).toBe('first\n');
    scene.put({ '../outside/go': '' });
    await scene.plans.resume(plan.id);
    expect(seen(scene)).toBe('first\nGuidance:\n- be kind\n\nthird\n');
  });

  test('reverts a decision inside a subplan, with everything after it there and above', async () => {
    await using scene = await planScene({ toml: AGENT });
    const file = scene.planFile({
      steps: [
        { tool: 'agent', prompt: 'one' },
        { subplan: { name: 'inner', steps: ['two', 'three'].map((prompt) => ({ tool: 'agent', prompt })) } },
        { tool: 'agent', prompt: 'four' },
      ],
    });
    const plan = await scene.plans.run({ file, workspace: scene.root });
    expect(plan.error).toBe(null);
    const [, spawn, last] = scene.plans.tree(plan.id).decisions;
    const inner = spawn?.plans[0]?.decisions[1]?.decision;
    const result = await scene.plans.correct({ decision: inner?.id ?? '', mode: 'revert', guidance: 'g' });
    expect(result.superseded.map(({ id }) => id)).toEqual([inner?.id, last?.decision.id]);
    expect(result.plan).toMatchObject({ id: plan.id, state: 'complete' });
    expect(seen(scene)).toBe('one\ntwo\nGuidance:\n- g\n\nthree\nfour\n');
    const after = scene.plans.tree(plan.id);
    expect(after.decisions.map(({ decision }) => [decision.step, decision.state, decision.mark])).toEqual([
      [0, 'complete', null],
      [1, 'complete', null],
      [2, 'complete', 'superseded'],
      [2, 'complete', null],
    ]);
  });

  test('replaces a subplan whole where its spawning is reverted', async () => {
    await using scene = await planScene({ toml: AGENT });
    const file = scene.planFile({
      steps: [{ subplan: { name: 'inner', steps: [{ tool: 'agent', prompt: 'in' }] } }],
    });
    const plan = await scene.plans.run({ file, workspace: scene.root });
    const [spawn] = scene.plans.tree(plan.id).decisions;
    const child = spawn?.plans[0];
    const result = await scene.plans.correct({
      decision: spawn?.decision.id ?? '',
      mode: 'revert',
      guidance: 'other way',
    });
    expect(result.correction?.replaced).toEqual([spawn?.decision.id, child?.decisions[0]?.decision.id]);
    expect(result.invalidatedPlans.map(({ id }) => id)).toEqual([child?.plan.id]);
    expect(scene.plans.find(child?.plan.id ?? '')).toMatchObject({ invalidated: true });
    expect(seen(scene)).toBe('Guidance:\n- other way\n\nin\n');
  });

  test('reverts a parallel group with everything in it', async () => {
    await using scene = await planScene();
    const file = scene.planFile({
      steps: [
        {
          parallel: ['x', 'y'].map((name) => ({
            name,
            steps: [{ tool: 'write_file', path: name, content: name }],
          })),
        },
      ],
    });
    const plan = await scene.plans.run({ file, workspace: scene.root });
    const [group] = scene.plans.tree(plan.id).decisions;
    const result = await scene.plans.correct({
      decision: group?.decision.id ?? '',
      mode: 'revert',
      guidance: 'g',
    });
    expect(result.correction?.replaced).toHaveLength(5);
    expect(result.plan).toMatchObject({ state: 'complete' });
    expect(scene.plans.tree(plan.id).decisions.map(({ decision }) => decision.mark)).toEqual([
      'superseded',
      null,
    ]);
    expect(readFileSync(join(scene.root, 'y'), 'utf8')).toBe('y');
  });

  test('refuses what it cannot correct', async () => {
    await using scene = await planScene({ toml: `${AGENT}[core.checkpoints]\nauto_create_on = []\n` });
    const plan = await scene.plans.run({ file: threeAgents(scene), workspace: scene.root });
    const id = scene.plans.tree(plan.id).decisions[0]?.decision.id ?? '';
    const correct = (decision: string, guidance = 'g') =>
      scene.plans.correct({ decision, mode: 'revert', guidance });
    await expect(correct('01HXYZ1234567890ABCDEFGHJK')).rejects.toMatchObject({ code: 'DECISION_NOT_FOUND' });
    await expect(correct('x')).rejects.toMatchObject({ code: 'DECISION_NOT_FOUND' });
    await expect(correct(id, ' ')).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    await expect(correct(id)).rejects.toMatchObject({ code: 'BUSINESS_RULE_VIOLATION' });
    await scene.plans.apply(plan.id);
    await expect(correct(id)).rejects.toMatchObject({ message: expect.stringContaining('already applied') });
    expect(existsSync(join(scene.root, 'seen.txt'))).toBe(true);
  });
});
