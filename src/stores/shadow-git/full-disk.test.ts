import { expect, test } from 'vitest';
import { shadowPlace } from '../../../test/support/fresh-shadow-place.ts';
import { contentsOf } from '../../../test/support/shadow-place.ts';

test('CR-09: a full disk at any step gives NO_SPACE, leaves nothing restorable, and the same works afterwards', async () => {
  let steps = 0;
  let failAt = 0;
  const place = shadowPlace({}, undefined, (call, target) => {
    steps += 1;
    if (steps !== failAt) return;
    throw Object.assign(new Error(`ENOSPC: no space left on device, ${call} '${target}'`), {
      code: 'ENOSPC',
    });
  });
  const { store, capture } = place;
  const first = await capture({ a: '0' });
  steps = 0;
  await capture({ a: '1' }, { base: first.written.ref.root });
  const needed = steps;
  let published = 2;
  for (let at = 1; at <= needed; at += 1) {
    [steps, failAt] = [0, at];
    const attempt = capture({ a: `attempt ${at}` }, { base: first.written.ref.root });
    const outcome = await attempt.then(
      () => 'done',
      (error: { readonly code: string }) => error.code,
    );
    failAt = 0;
    // what comes after the checkpoint is there is not worth failing for
    if (outcome === 'done') published += 1;
    else expect(outcome).toBe('NO_SPACE');
    const { manifests, problems } = await store.manifests();
    expect(problems).toEqual([]);
    expect(manifests).toHaveLength(published);
  }
  const { manifests } = await store.manifests();
  expect(await store.verify(manifests.map(({ record }) => record))).toEqual([]);
  const again = await capture({ a: 'again' }, { base: first.written.ref.root });
  expect(await contentsOf(store, await store.open(again.record.snapshot))).toEqual({ a: 'again' });
});
