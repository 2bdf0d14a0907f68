import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isWaymarkError } from '../../src/index.ts';
import { asidePath } from '../../src/worktree/create/set-aside.ts';
import { spread } from '../support/at-most.ts';
import { scaled } from '../support/scale.ts';
import { type WorktreeLibrary, worktreeLibrary } from '../support/worktree-library.ts';

const MOMENTS = scaled(5, 10_000);

/** Does something right before the changing call number `at` that Waymark makes from `arm` on. */
function before() {
  let armed: { at: number; action: () => void } | undefined;
  let calls = 0;
  return {
    hook: () => {
      if (armed === undefined) return;
      calls += 1;
      if (calls !== armed.at) return;
      armed.action();
      armed = undefined;
    },
    arm: (at: number, action: () => void) => {
      calls = 0;
      armed = { at, action };
    },
    /** how many calls there were, whether or not the moment came */
    calls: () => calls,
  };
}

async function isHeld({ library }: WorktreeLibrary, path: string): Promise<boolean> {
  for (const { id } of await library.listCheckpoints({ everywhere: true })) {
    const { entries } = await library.showCheckpoint(id);
    if (entries.some(([entry]) => entry === path)) return true;
  }
  return false;
}

const MODES = [
  ['of a run that failed', 'echo n > new; exit 1', {}],
  ['by request', 'true', {}],
  ['by force', 'echo n > new; echo i > ignored.log', { force: true }],
  ['by force, secrets included', 'echo n > new; echo S > .env', { discardSecrets: true }],
] as const;

describe('what appears or changes in a worktree at any moment of its removal', () => {
  test.each(MODES)('%s, stays or is held', async (mode, script, options) => {
    const moment = before();
    const place = await worktreeLibrary({ stepHook: moment.hook });
    place.write('.gitignore', '*.log\n');
    place.commit('ignore');
    let calls = 0;
    const removal = async (run: string, at: number, late: () => void) => {
      if (mode === 'of a run that failed') {
        await place.library.runInWorktree({ name: run }, async (context) => {
          writeFileSync(place.worktree(run, 'new'), 'n\n');
          context.failed();
          moment.arm(at, late);
        });
        return;
      }
      await place.agent(run, script);
      moment.arm(at, late);
      await place.library.worktreeRemove(run, options).catch((error: unknown) => {
        if (!isWaymarkError(error, 'WORKTREE_NOT_SAFE')) throw error;
      });
    };
    await removal('count', Number.MAX_SAFE_INTEGER, () => {});
    calls = moment.calls();
    moment.arm(Number.MAX_SAFE_INTEGER, () => {});
    expect(existsSync(place.worktree('count'))).toBe(false);
    expect(calls).toBeGreaterThan(5);
    let written = 0;
    for (const at of spread(calls, MOMENTS).map((n) => n + 1)) {
      const run = `r${at}`;
      const late = `late-${at}`;
      let wrote = false;
      await removal(run, at, () => {
        // Who writes by path does not make the worktree anew.
        if (!existsSync(place.worktree(run, 'a.txt'))) return;
        writeFileSync(place.worktree(run, late), 'nowhere else');
        writeFileSync(place.worktree(run, 'a.txt'), late);
        wrote = true;
      });
      if (!wrote) continue;
      written += 1;
      const kept = existsSync(place.worktree(run, late));
      expect(kept || (await isHeld(place, late)), `${late} of ${calls}`).toBe(true);
      if (kept) expect((await place.library.worktrees()).map(({ runId }) => runId)).toContain(run);
    }
    expect(written).toBeGreaterThan(0);
  });

  test('a secret that comes after everything was held is not discarded unsaid', async () => {
    const run = 'fix';
    let armed = false;
    const place = await worktreeLibrary({
      stepHook: (call, target) => {
        if (!armed || call !== 'commit' || target !== 'commit checkpoint') return;
        armed = false;
        writeFileSync(place.worktree(run, '.env'), 'S');
      },
    });
    await place.agent(run, 'echo n > new');
    armed = true;
    await expect(place.library.worktreeRemove(run, { force: true })).rejects.toMatchObject({
      code: 'WORKTREE_NOT_SAFE',
      message: expect.stringContaining('.env (a secret)'),
      hint: expect.stringContaining('--discard-secrets'),
    });
    expect(existsSync(place.worktree(run, '.env'))).toBe(true);
  });

  test('what never comes to rest keeps it, and is named', async () => {
    let armed = false;
    let turn = 0;
    const place = await worktreeLibrary({
      stepHook: (call, target) => {
        if (!armed || call !== 'commit' || target !== 'commit checkpoint') return;
        turn += 1;
        writeFileSync(place.worktree('fix', `log/${turn}`), 'x');
      },
    });
    await place.agent('fix', 'mkdir log');
    mkdirSync(place.worktree('fix', 'log'), { recursive: true });
    writeFileSync(place.worktree('fix', 'log/0'), 'x');
    armed = true;
    await expect(place.library.worktreeRemove('fix', { force: true })).rejects.toMatchObject({
      code: 'WORKTREE_NOT_SAFE',
      message: expect.stringContaining('log/3'),
      details: { changed: ['log/3'] },
    });
    armed = false;
    expect(await place.library.worktrees()).toMatchObject([{ runId: 'fix', state: 'kept' }]);
    expect(await place.library.worktreeRemove('fix', { force: true })).toMatchObject({ removed: true });
  });
});

describe('a removal that a kill interrupts before anything is deleted', () => {
  test('is explained by list, and another remove looks again', async () => {
    const place = await worktreeLibrary();
    await place.agent('fix', 'echo n > new');
    renameSync(place.worktree('fix'), asidePath(place.worktree('fix')));
    expect(await place.library.worktrees()).toMatchObject([
      { runId: 'fix', state: 'broken', detail: 'Its removal was interrupted: remove it again' },
    ]);
    await expect(place.library.worktreeRemove('fix')).rejects.toMatchObject({ code: 'WORKTREE_NOT_SAFE' });
    expect(existsSync(place.worktree('fix', 'new'))).toBe(true);
    renameSync(place.worktree('fix'), asidePath(place.worktree('fix')));
    expect(await place.library.worktreeRemove('fix', { force: true })).toMatchObject({ removed: true });
    expect(place.exists('.waymark')).toBe(false);
  });

  test('is taken back by --resume', async () => {
    const place = await worktreeLibrary();
    await place.agent('fix', 'echo n > new');
    renameSync(place.worktree('fix'), asidePath(place.worktree('fix')));
    await place.agent('fix', 'echo more >> new', { resume: 'fix' });
    expect(existsSync(place.worktree('fix', 'new'))).toBe(true);
  });

  test('is not mixed with what came to its place', async () => {
    const place = await worktreeLibrary();
    await place.agent('fix', 'echo n > new');
    const path = place.worktree('fix');
    renameSync(path, asidePath(path));
    mkdirSync(path);
    writeFileSync(place.worktree('fix', 'other'), 'o');
    await expect(place.library.worktreeRemove('fix', { force: true })).rejects.toMatchObject({
      code: 'WORKTREE_NOT_SAFE',
      message: expect.stringContaining(asidePath(path)),
    });
    expect([existsSync(join(asidePath(path), 'new')), existsSync(join(path, 'other'))]).toEqual([true, true]);
  });
});
