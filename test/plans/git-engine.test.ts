import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { planScene } from '../support/plan-scene.ts';

describe('plans on the git engine', () => {
  test('checkpoints are shadow commits, and rollback, correction and lanes work', async () => {
    await using scene = await planScene({ toml: '[store]\nengine = "git"\n' });
    scene.put({ a: 'a' });
    const plan = await scene.plans.run({
      file: scene.planFile({
        steps: [
          { tool: 'write_file', path: 'a', content: 'b' },
          {
            parallel: ['x', 'y'].map((name) => ({
              name,
              steps: [{ tool: 'write_file', path: name, content: name }],
            })),
          },
        ],
      }),
      workspace: scene.root,
    });
    expect(plan.error).toBeNull();
    expect(existsSync(join(scene.root, 'y'))).toBe(true);
    const list = await scene.plans.checkpoints.listCheckpoints({ planId: plan.id });
    for (const { sandboxRef } of list) expect(sandboxRef).toMatch(/^[0-9a-f]{40,64}$/);
    const again = await scene.plans.checkpoints.createCheckpoint({
      planId: plan.id,
      checkpointType: 'manual',
      sandboxRef: list.at(-1)?.sandboxRef ?? '',
    });
    writeFileSync(join(scene.root, 'a'), 'c');
    const result = await scene.plans.rollback({ plan: plan.id, checkpoint: again.checkpointId });
    expect(result.changesReverted).toEqual(['a', 'x', 'y']);
    expect(readFileSync(join(scene.root, 'a'), 'utf8')).toBe('a');
    expect(result.rolledBack).toHaveLength(6);
    expect(await scene.plans.resume(plan.id)).toMatchObject({ state: 'complete' });
    expect(readFileSync(join(scene.root, 'a'), 'utf8')).toBe('b');
  });
});
