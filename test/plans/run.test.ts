import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { PlanId } from '../../src/domain/ids.ts';
import type { PlanEvent } from '../../src/domain/plan-event.ts';
import { type PlanScene, planScene } from '../support/plan-scene.ts';

const THREE_STEPS = {
  name: 'three',
  steps: [
    { tool: 'write_file', path: 'a.txt', content: 'one\n' },
    { tool: 'edit_file', path: 'a.txt', search: 'one', replace: 'two' },
    { tool: 'shell', command: 'cat a.txt > b.txt' },
  ],
};

/** Runs a plan and tells when its first step has started. */
function runUntilStarted(scene: PlanScene, file: string) {
  const { promise: started, resolve } = Promise.withResolvers<PlanId>();
  const onEvent = ({ kind, planId }: PlanEvent) => {
    if (kind === 'step_started') resolve(planId);
  };
  return { started, running: scene.plans.run({ file, workspace: scene.root, onEvent }) };
}

describe('plan run', () => {
  test('executes steps as decisions with checkpoints around each', async () => {
    await using scene = await planScene();
    const events: PlanEvent[] = [];
    const plan = await scene.plans.run({
      file: scene.planFile(THREE_STEPS),
      workspace: scene.root,
      onEvent: (event) => events.push(event),
    });
    expect(plan).toMatchObject({ name: 'three', phase: 'execute', state: 'complete', error: null });
    expect(readFileSync(join(scene.root, 'b.txt'), 'utf8')).toBe('two\n');
    const { decisions } = scene.plans.tree(plan.id);
    expect(decisions.map(({ decision }) => [decision.kind, decision.state, decision.attempts])).toEqual([
      ['write_file', 'complete', 1],
      ['edit_file', 'complete', 1],
      ['shell', 'complete', 1],
    ]);
    const checkpoints = await scene.plans.checkpoints.listCheckpoints({ planId: plan.id });
    expect(checkpoints.map(({ checkpointType }) => checkpointType).toReversed()).toEqual([
      'run_start',
      'pre_write',
      'post_step',
      'pre_write',
      'post_step',
      'pre_write',
      'post_step',
    ]);
    expect(checkpoints.map(({ decisionId }) => decisionId).toReversed()).toEqual([
      null,
      ...decisions.flatMap(({ decision }) => [decision.id, decision.id]),
    ]);
    expect(checkpoints[0]).toMatchObject({
      planId: plan.id,
      sandboxRef: expect.stringMatching(/^cas:/),
      metadata: { reason: 'post-step', sourceTool: 'shell', phase: 'execute', extra: { succeeded: true } },
    });
    const seqs = events.filter(({ kind }) => kind !== 'output').map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
    expect(scene.plans.status(plan.id)).toMatchObject({
      running: false,
      decisions: { complete: 3, errored: 0 },
      checkpointsTaken: 7,
      checkpointsMissed: [],
    });
  });

  test('stops at a step that fails, with post_step and on_error checkpoints', async () => {
    await using scene = await planScene();
    const plan = await scene.plans.run({
      file: scene.planFile({
        steps: [
          { tool: 'shell', command: 'echo half > half.txt; echo no >&2; exit 3', retry: 1 },
          { tool: 'write_file', path: 'never.txt', content: '' },
        ],
      }),
      workspace: scene.root,
    });
    expect(plan).toMatchObject({ phase: 'execute', state: 'errored', error: { code: 'COMMAND_FAILED' } });
    expect(existsSync(join(scene.root, 'never.txt'))).toBe(false);
    const [node] = scene.plans.tree(plan.id).decisions;
    expect(node?.decision).toMatchObject({ state: 'errored', attempts: 2 });
    expect(node?.toolCalls).toMatchObject([
      { attempt: 1, succeeded: false, exitCode: 3, output: 'no\n' },
      { attempt: 2, succeeded: false, exitCode: 3 },
    ]);
    const checkpoints = await scene.plans.checkpoints.listCheckpoints({ planId: plan.id });
    expect(
      checkpoints
        .map(({ checkpointType: type, metadata }) => [type, metadata.extra['succeeded']])
        .toReversed(),
    ).toEqual([
      ['run_start', undefined],
      ['pre_write', undefined],
      ['post_step', false],
      ['pre_write', undefined],
      ['post_step', false],
      ['on_error', undefined],
    ]);
  });

  test('goes on after a step that may fail', async () => {
    await using scene = await planScene();
    const plan = await scene.plans.run({
      file: scene.planFile({
        steps: [
          { tool: 'shell', command: 'exit 1', continue_on_error: true },
          { tool: 'write_file', path: 'after.txt', content: '' },
        ],
      }),
      workspace: scene.root,
    });
    expect(plan.state).toBe('complete');
    expect(existsSync(join(scene.root, 'after.txt'))).toBe(true);
  });

  test('resumes at the step that failed and runs no complete step twice', async () => {
    await using scene = await planScene();
    const log = join(scene.outside, 'log');
    const plan = await scene.plans.run({
      file: scene.planFile({
        steps: [
          { tool: 'shell', command: `echo 1 >> ${log}` },
          { tool: 'shell', command: `test -e ${scene.outside}/go && echo 2 >> ${log}` },
          { tool: 'shell', command: `echo 3 >> ${log}` },
        ],
      }),
      workspace: scene.root,
    });
    expect(plan.state).toBe('errored');
    writeFileSync(join(scene.outside, 'go'), '');
    expect((await scene.plans.resume(plan.id)).state).toBe('complete');
    expect(readFileSync(log, 'utf8')).toBe('1\n2\n3\n');
    expect((await scene.plans.resume(plan.id)).state).toBe('complete');
  });

  test.each([
    [[], []],
    [['on_tool_write'], ['run_start', 'pre_write', 'pre_write']],
    [['on_tool_write_complete'], ['run_start', 'post_step', 'post_step']],
    [['on_subplan_spawn'], ['run_start', 'pre_subplan']],
    [['on_error'], ['run_start', 'on_error']],
  ])('takes the automatic checkpoints of %j only', async (triggers, types) => {
    await using scene = await planScene({
      toml: `[core.checkpoints]\nauto_create_on = ${JSON.stringify(triggers)}\n`,
    });
    const plan = await scene.plans.run({
      file: scene.planFile({
        steps: [
          { tool: 'write_file', path: 'a', content: '' },
          { subplan: { name: 'empty', steps: [{ tool: 'shell', command: 'true' }] } },
          { tool: 'shell', command: 'exit 1' },
        ],
      }),
      workspace: scene.root,
    });
    const checkpoints = await scene.plans.checkpoints.listCheckpoints({ planId: plan.id });
    expect(checkpoints.map(({ checkpointType }) => checkpointType).toReversed()).toEqual(types);
  });

  test('records a checkpoint that cannot be taken, shows it and goes on', async () => {
    await using scene = await planScene({ toml: '[limits]\nmax_files = 1\n' });
    scene.put({ a: '1', b: '2', c: '3' });
    const plan = await scene.plans.run({ file: scene.planFile(THREE_STEPS), workspace: scene.root });
    expect(plan.state).toBe('complete');
    const { checkpointsMissed, checkpointsTaken } = scene.plans.status(plan.id);
    expect(checkpointsTaken).toBe(0);
    expect(checkpointsMissed).toHaveLength(7);
    expect(checkpointsMissed[0]).toMatchObject({
      kind: 'checkpoint_failed',
      data: { checkpoint_type: 'run_start', message: expect.stringContaining('files') },
    });
  });

  test('runs the configured agent with guidance and says which agents there are', async () => {
    await using scene = await planScene({ toml: '[agents]\ndefault = ["tee", "prompt.txt"]\n' });
    const plan = await scene.plans.run({
      file: scene.planFile({ guidance: 'be brief', steps: [{ tool: 'agent', prompt: 'do it' }] }),
      workspace: scene.root,
    });
    expect(plan).toMatchObject({ state: 'complete' });
    expect(readFileSync(join(scene.root, 'prompt.txt'), 'utf8')).toBe('Guidance:\n- be brief\n\ndo it');
  });

  test('refuses an agent that is not configured before any step', async () => {
    await using scene = await planScene({ toml: '[agents]\ndefault = ["true"]\n' });
    const late = { steps: [{ tool: 'agent', agent: 'reviewer', prompt: 'look' }] };
    const file = scene.planFile({
      steps: [{ tool: 'write_file', path: 'a.txt', content: '' }, { subplan: late }],
    });
    await expect(scene.plans.run({ file, workspace: scene.root })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'No agent "reviewer" is configured',
      hint: expect.stringMatching(/default.*\[agents\].*waymark\.toml/),
    });
    expect(existsSync(join(scene.root, 'a.txt'))).toBe(false);
    expect(scene.plans.list()).toEqual([]);
  });

  test('undoes the whole run, and one step by its id', async () => {
    await using scene = await planScene();
    scene.put({ 'a.txt': 'before\n' });
    const plan = await scene.plans.run({
      file: scene.planFile({
        steps: [
          { tool: 'write_file', path: 'a.txt', content: 'after\n' },
          { tool: 'write_file', path: 'b.txt', content: 'b\n' },
        ],
      }),
      workspace: scene.root,
    });
    const workspace = await scene.workspace();
    const [, second] = scene.plans.tree(plan.id).decisions;
    await workspace.undo({ operation: second?.decision.id ?? '', confirm: 'always' });
    expect(existsSync(join(scene.root, 'b.txt'))).toBe(false);
    await workspace.undo({ confirm: 'always' });
    expect(readFileSync(join(scene.root, 'a.txt'), 'utf8')).toBe('before\n');
  });

  test('refuses to work on a plan that another holds', async () => {
    await using scene = await planScene();
    const file = scene.planFile({ steps: [{ tool: 'shell', command: 'sleep 1' }] });
    const { running, started } = runUntilStarted(scene, file);
    const seen = await started;
    await expect(scene.plans.resume(seen)).rejects.toMatchObject({ code: 'RUN_ACTIVE' });
    expect(scene.plans.status(seen).running).toBe(true);
    await running;
  });

  test('is cancelled from outside while a step runs', async () => {
    await using scene = await planScene();
    const { running, started } = runUntilStarted(
      scene,
      scene.planFile({ steps: [{ tool: 'shell', command: 'sleep 30' }] }),
    );
    const seen = await started;
    await scene.plans.cancel(seen);
    expect(await running).toMatchObject({ state: 'cancelled' });
    await expect(scene.plans.resume(seen)).rejects.toMatchObject({ code: 'BUSINESS_RULE_VIOLATION' });
  });
});
