import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isWaymarkError, openWaymark } from '../../src/index.ts';
import { noise } from '../suites/drafts.ts';
import { spread } from '../support/at-most.ts';
import { writeFiles } from '../support/files.ts';
import { Died, mortal } from '../support/mortal.ts';
import { openSandbox, type Sandbox, sandbox } from '../support/sandbox.ts';
import { scaled } from '../support/scale.ts';
import { placesOf } from '../support/stored-content.ts';
import { take } from '../support/take.ts';

const TOKEN = 'conf/token.txt';
const secrets = [noise(4000, 1), noise(4000, 2)] as const;

/** Everything else that a purge prints or asks is in `test/cases/secrets.test.ts`. */
describe.each(['cas', 'git'] as const)('a purge that dies, engine %s', (engine) => {
  test('SE-04: whatever step it dies before, every checkpoint stays whole, and repeating it finishes it', async () => {
    const whole = await purged(Number.POSITIVE_INFINITY);
    expect(whole.steps).toBeGreaterThan(8);
    for (const step of steps(whole.steps)) {
      try {
        const { place, ids } = await purged(step);
        if (step % 2 === 0) await prune(place);
        await expectWhole(place, ids);
        await purgeAgain(place);
        for (const secret of secrets) expect(placesOf(place.home, secret)).toEqual([]);
        await expectWhole(place, ids);
      } catch (error) {
        throw new Error(`died before step ${step} of ${whole.steps}`, { cause: error });
      }
    }
  });

  /** On git each step is a process or more. */
  function steps(count: number): readonly number[] {
    const all = [...spread(count, scaled(engine === 'cas' ? 24 : 8, count))];
    return all.map((step) => step + 1);
  }

  /** Purges and dies before the given step, of a history of two contents, the first pinned. */
  async function purged(step: number) {
    const place = sandbox();
    const ids: string[] = [];
    {
      await using waymark = await openWaymark(place.options);
      const workspace = await waymark.openWorkspace(place.workspace);
      for (const [n, secret] of secrets.entries()) {
        writeFiles(place.workspace, { [TOKEN]: secret, other: `${n}` });
        ids.push(await take(workspace, { engine, session: 's' }));
      }
      await workspace.pin(ids[0] ?? '', true);
    }
    let armed = false;
    let taken = 0;
    const { hook } = mortal(step);
    const stepHook: typeof hook = (call, target) => {
      if (!armed) return;
      if (call !== 'fsync' && call !== 'fsync-dir') taken += 1;
      hook(call, target);
    };
    const waymark = await openWaymark({ ...place.options, stepHook });
    try {
      const workspace = await waymark.openWorkspace(place.workspace);
      armed = true;
      await workspace.purge(TOKEN, () => true);
    } catch (error) {
      if (!isDeath(error)) throw error;
    } finally {
      await Promise.resolve(waymark[Symbol.asyncDispose]()).catch(() => {});
    }
    return { place, ids, steps: taken };
  }

  async function expectWhole(place: Sandbox, ids: readonly string[]): Promise<void> {
    const { waymark, workspace } = await openSandbox(place);
    expect((await waymark.doctor()).problems).toEqual([]);
    const listed = await workspace.listCheckpoints();
    expect(listed.map(({ id, restorable, pinned }) => [id, restorable, pinned])).toEqual([
      [ids[1], true, false],
      [ids[0], true, true],
    ]);
    expect((await workspace.log('other')).length).toBe(2);
    for (const [n, id] of ids.entries()) {
      const into = `${place.directory}/${crypto.randomUUID()}`;
      await workspace.restore({ checkpoint: id, into });
      expect(readFileSync(`${into}/other`, 'utf8')).toBe(`${n}`);
      expect(await workspace.restore({ checkpoint: id, dryRun: true })).toMatchObject({ warnings: [] });
    }
  }

  /** Frees what the manifests do not need, the rows' snapshots of before among it. */
  async function prune(place: Sandbox): Promise<void> {
    const { workspace } = await openSandbox(place);
    expect((await workspace.prune()).problems).toEqual([]);
  }

  /** Where it had done everything before it died, there is nothing left to do. */
  async function purgeAgain(place: Sandbox): Promise<void> {
    const { workspace } = await openSandbox(place, { clock: { now: () => Date.now() + 60_000 } });
    const again = await workspace.purge(TOKEN, () => true).catch((error: unknown) => error);
    if (isWaymarkError(again, 'PATH_NOT_FOUND')) return;
    expect(again).toMatchObject({ paths: [TOKEN] });
  }
});

function isDeath(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof Died) return true;
  return error instanceof Error && /killed at step/.test(error.message);
}
