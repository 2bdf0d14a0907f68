import { cpSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { CheckpointRecord } from '../../src/domain/checkpoint.ts';
import { isWaymarkError } from '../../src/domain/errors.ts';
import type { FsCall } from '../../src/platform/file-system.ts';
import { actOnCasHome, CAS_ACTIONS, type CasAction, casStore, prepareCasHome } from '../support/cas-scene.ts';
import { runScript } from '../support/run-script.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const CRASH = new URL('../support/cas-crash.ts', import.meta.url).pathname;

/** A prepared home that is copied for each fault. */
async function scene() {
  const temporary = temporaryDirectory();
  const kept = await prepareCasHome(`${temporary.path}/prepared`);
  let copies = 0;
  return {
    kept,
    copy() {
      copies += 1;
      const home = `${temporary.path}/${copies}`;
      cpSync(`${temporary.path}/prepared`, home, { recursive: true, preserveTimestamps: true });
      return home;
    },
    [Symbol.dispose]: () => temporary[Symbol.dispose](),
  };
}

/** All changing calls of an action, in order. */
async function stepsOf(
  home: string,
  action: CasAction,
  kept: readonly CheckpointRecord[],
): Promise<FsCall[]> {
  const steps: FsCall[] = [];
  const store = casStore(home, (call) => steps.push(call));
  await actOnCasHome(store, action, kept);
  await store.close();
  return steps;
}

/** Whatever happened: what was published before is whole, what is published now is complete, and the action can be done again. */
async function expectSound(
  home: string,
  action: CasAction,
  kept: readonly CheckpointRecord[],
  mayBePublished: boolean,
) {
  const store = casStore(home);
  const found = await store.manifests();
  expect(found.problems).toEqual([]);
  const records = found.manifests.map(({ record }) => record);
  expect(await store.verify(records)).toEqual([]);
  const ids = records.map(({ id }) => id);
  for (const { id } of kept) expect(ids).toContain(id);
  if (action !== 'purge') expect(await store.verify(kept)).toEqual([]);
  const fresh = records.filter(({ sessionId }) => sessionId === 'fresh');
  expect(fresh.length).toBeLessThanOrEqual(mayBePublished ? 1 : 0);
  for (const { id, sessionId, seq } of fresh) await store.retract({ id, sessionId, seq, sandboxRef: null });
  await actOnCasHome(store, action, action === 'purge' ? records : kept);
  const after = (await store.manifests()).manifests.map(({ record }) => record);
  expect(await store.verify(after)).toEqual([]);
  expect(after.length).toBe(kept.length + (action === 'capture' ? 1 : 0));
  if (action !== 'collect') {
    const report = await store.collect({ minAgeMs: 0, thorough: true, dryRun: false });
    expect(report.blockedBy).toEqual([]);
    expect(await store.verify(after)).toEqual([]);
  }
  await store.close();
}

/** Thrown by a file system whose process counts as dead. */
class Died extends Error {}

const FAULTS = { ENOSPC: 'NO_SPACE', EIO: 'IO_ERROR' } as const;

describe.each(CAS_ACTIONS)('CR-09 CR-06: %s on the cas store', (action) => {
  const faults = action === 'capture' ? { ...FAULTS, EACCES: 'PERMISSION_DENIED' } : FAULTS;
  test.each(Object.entries(faults))('survives %s at every step', async (errno, code) => {
    using ground = await scene();
    const steps = await stepsOf(ground.copy(), action, ground.kept);
    expect(steps.length).toBeGreaterThan(10);
    for (const [at, call] of steps.entries()) {
      const home = ground.copy();
      let taken = 0;
      const store = casStore(home, (_, target) => {
        taken += 1;
        if (taken - 1 === at)
          throw Object.assign(new Error(`${errno}: injected`), { code: errno, path: target });
      });
      const outcome = await actOnCasHome(store, action, ground.kept).catch((error: unknown) => error);
      await store.close();
      expect(taken, `step ${at} was met`).toBeGreaterThan(at);
      // A temporary file that can't be removed is left for collection; anything else must be told.
      if (outcome === undefined) expect(call).toBe('unlink');
      else {
        expect(isWaymarkError(outcome), `${call} ${at}: ${outcome}`).toBe(true);
        expect(outcome).toMatchObject({ code, message: expect.stringContaining(home) });
      }
      await expectSound(home, action, ground.kept, outcome === undefined);
    }
  });

  test('survives its process dying before every step', async () => {
    using ground = await scene();
    const steps = await stepsOf(ground.copy(), action, ground.kept);
    for (const at of steps.keys()) {
      const home = ground.copy();
      let taken = 0;
      const store = casStore(home, () => {
        taken += 1;
        if (taken > at) throw new Died();
      });
      await expect(actOnCasHome(store, action, ground.kept)).rejects.toThrow(Died);
      await expectSound(home, action, ground.kept, true);
    }
  });

  test('survives SIGKILL', async () => {
    using ground = await scene();
    const steps = await stepsOf(ground.copy(), action, ground.kept);
    const kill = async (step: number): Promise<void> => {
      const home = ground.copy();
      const child = runScript(CRASH, home, action, `${step}`);
      await child.output;
      expect(child.process.signalCode, `step ${step} of ${steps}`).toBe('SIGKILL');
      await expectSound(home, action, ground.kept, true);
    };
    for (let at = 0; at < steps.length; at += 6) {
      await Promise.all([at, at + 3].filter((step) => step < steps.length).map(kill));
    }
  });
});
