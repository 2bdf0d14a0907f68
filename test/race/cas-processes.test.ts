import { expect, test } from 'vitest';
import { hashOf } from '../suites/drafts.ts';
import { casStore } from '../support/cas-scene.ts';
import { runScript } from '../support/run-script.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const WORKER = new URL('../support/cas-worker.ts', import.meta.url).pathname;

test('CL-01 CL-03 CL-06: processes capture, drop and collect in one home at once, and nothing kept is lost', async () => {
  using temporary = temporaryDirectory();
  const home = `${temporary.path}/home`;
  const outputs = await Promise.all(
    ['w0', 'w1', 'w2', 'w3'].map((name) => runScript(WORKER, home, name, '12').output),
  );
  const kept = outputs.flatMap((output) => output.trim().split('\n')).sort();
  expect(kept).toHaveLength(32);
  const store = casStore(home);
  const { manifests, problems } = await store.manifests();
  expect(problems).toEqual([]);
  const records = manifests.map(({ record }) => record);
  expect(records.map(({ sessionId, seq }) => `${sessionId} ${seq}`).sort()).toEqual(kept);
  expect(await store.verify(records)).toEqual([]);
  await store.collect({ minAgeMs: 0, thorough: true, dryRun: false });
  expect(await store.verify(records)).toEqual([]);
  expect((await store.missing([hashOf('w0 0'), hashOf('w0 2')])).size).toBe(1);
});
