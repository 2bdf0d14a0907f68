import { expect, test } from 'vitest';
import { startWorker } from './worker.ts';

test('startWorker() gives a dead thread where there is no such entry, and never waits for it', async () => {
  await using worker = startWorker('no-such-entry');
  worker?.post('anything');
  while (worker?.isDead === false) await worker.wait();
  expect(worker?.take()).toBeUndefined();
  await worker?.wait();
});
