import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openWaymark } from '../../src/index.ts';
import type { StepHook } from '../../src/platform/file-system.ts';
import { readText, writeFiles } from '../support/files.ts';
import { openSandbox, sandbox } from '../support/sandbox.ts';
import { goBack, take } from '../support/take.ts';

test('a workspace’s own settings drop nothing of another workspace in the same session', async () => {
  const place = sandbox();
  const { waymark, workspace } = await openSandbox(place);
  for (let n = 0; n < 5; n += 1) {
    writeFiles(place.workspace, { a: `${n}` });
    await take(workspace, { session: 's' });
  }
  const other = path.join(place.directory, 'other');
  mkdirSync(other);
  writeFiles(other, { 'waymark.toml': '[retention]\nkeep = 1\n', b: 'b' });
  const second = await waymark.openWorkspace(other);
  for (const n of [1, 2]) {
    writeFiles(other, { b: `${n}` });
    await take(second, { session: 's' });
  }
  expect(await workspace.listCheckpoints()).toHaveLength(5);
  expect(await second.listCheckpoints()).toHaveLength(1);
});

test('what a restore leads back by is there however many checkpoints others take meanwhile', async () => {
  const place = sandbox();
  const environment = { ...place.environment, WAYMARK_RETENTION_KEEP: '1' };
  const { workspace } = await openSandbox(place, { environment });
  writeFiles(place.workspace, { a: 'v1' });
  const id = await take(workspace, { session: 's' });
  await workspace.pin(id, true);
  writeFiles(place.workspace, { a: 'only copy' });
  const { workspace: others } = await openSandbox(place, { environment });
  const pending: Promise<unknown>[] = [];
  // Right before the operation is recorded, others of the session are pruned.
  const stepHook: StepHook = (call, target) => {
    if (call === 'commit' && target === 'open operation') pending.push(others.prune());
  };
  const { workspace: restoring } = await openSandbox(place, { environment, stepHook });
  const { safetyCheckpointId } = await restoring.restore({ checkpoint: id, confirm: 'always', session: 's' });
  await Promise.all(pending);
  expect(pending.length).toBeGreaterThan(0);
  expect((await workspace.listCheckpoints()).map((one) => one.id)).toContain(safetyCheckpointId);
  await workspace.undo({ confirm: 'always' });
  expect(readText(place.workspace, 'a')).toBe('only copy');
});

test('a run’s ends are there when it has ended, whatever parallel agents took in its session', async () => {
  const place = sandbox();
  const environment = { ...place.environment, WAYMARK_RETENTION_KEEP: '1' };
  const { workspace } = await openSandbox(place, { environment });
  const { workspace: others } = await openSandbox(place, { environment });
  writeFiles(place.workspace, { a: '1' });
  const { after, before } = await workspace.run({ session: 's' }, async () => {
    for (let n = 0; n < 4; n += 1) {
      writeFiles(place.workspace, { a: `agent ${n}` });
      await take(others, { session: 's' });
    }
  });
  const listed = (await workspace.listCheckpoints()).map(({ id }) => id);
  expect(listed).toContain(before?.id);
  expect(listed).toContain(after?.id);
  await workspace.undo({ confirm: 'always' });
  expect(readText(place.workspace, 'a')).toBe('1');
});

test('checkpoints are in the order they were taken in, also after the clock stepped back', async () => {
  const place = sandbox();
  let now = Date.parse('2026-12-01T10:00:00Z');
  const { workspace } = await openSandbox(place, { clock: { now: () => now } as never });
  const ids: string[] = [];
  for (let n = 0; n < 4; n += 1) {
    writeFiles(place.workspace, { a: `${n}` });
    ids.unshift(await take(workspace, { session: `s${4 - n}` }));
    now -= 60_000;
  }
  expect((await workspace.listCheckpoints({ everywhere: true })).map(({ id }) => id)).toEqual(ids);
  await goBack(workspace, '@~1');
  expect(readText(place.workspace, 'a')).toBe('2');
});

test('the catalog is not replaced under a run that goes on', async () => {
  const place = sandbox();
  const { workspace } = await openSandbox(place);
  writeFiles(place.workspace, { a: '1' });
  const { after } = await workspace.run({}, async () => {
    await expect(openWaymark({ ...place.options, rebuildCatalog: true })).rejects.toMatchObject({
      code: 'RUN_ACTIVE',
    });
    writeFiles(place.workspace, { a: '2' });
  });
  expect(after).not.toBeNull();
  await using rebuilt = await openWaymark({ ...place.options, rebuildCatalog: true });
  expect(await rebuilt.listCheckpoints({ everywhere: true })).toHaveLength(2);
});
