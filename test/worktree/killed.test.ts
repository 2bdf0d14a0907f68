import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isWaymarkError } from '../../src/index.ts';
import { spread } from '../support/at-most.ts';
import { bundleScript } from '../support/bundle-script.ts';
import { isSoak, scaled } from '../support/scale.ts';
import { treeListing } from '../support/tree-listing.ts';
import { SIX, type WorktreeLibrary, worktreeLibrary } from '../support/worktree-library.ts';

let victim: Awaited<ReturnType<typeof bundleScript>>;
beforeAll(async () => {
  victim = await bundleScript(join(import.meta.dirname, '../support/worktree-victim.ts'));
});
afterAll(() => victim[Symbol.dispose]());

/** Runs something in a process that dies right before its changing call number `at`; gives the number of calls where it lived. */
async function killed(place: WorktreeLibrary, what: string, at: number): Promise<number | undefined> {
  const { home, userHome, temporaryDirectory, environment } = place.options;
  const options = JSON.stringify({ home, userHome, temporaryDirectory, environment });
  const child = spawn(process.execPath, [victim.path, options, place.workspace, what, String(at)], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const out: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  await gitAtRest(place.workspace);
  if (signal === 'SIGKILL') return undefined;
  expect(code, Buffer.concat(errors).toString()).toBe(0);
  return Number(Buffer.concat(out).toString());
}

/** Waits for git commands that outlive the process that started them. */
async function gitAtRest(directory: string): Promise<void> {
  const busy = () =>
    readdirSync('/proc').some((pid) => {
      try {
        return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(directory);
      } catch {
        return false;
      }
    });
  while (busy()) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Moments of death, evenly spread over all calls; in a soak every one. */
const DEATHS = scaled(7, 10_000);

const PATIENCE_MS = isSoak ? 0 : 300_000;

async function everywhere(
  place: WorktreeLibrary,
  what: string,
  prepare: () => Promise<void>,
  check: (at: number) => Promise<void>,
): Promise<void> {
  let calls = 0;
  // A later time takes fewer calls than the first one.
  for (const _ of ['the first time', 'a later time']) {
    await prepare();
    calls = (await killed(place, what, Number.MAX_SAFE_INTEGER)) ?? 0;
    await check(-1);
  }
  expect(calls).toBeGreaterThan(10);
  let died = 0;
  const moments = spread(calls, DEATHS);
  for (const at of moments) {
    await prepare();
    const lived = await killed(place, what, at);
    if (lived === undefined) died += 1;
    await check(lived === undefined ? at : -1);
  }
  expect(died).toBeGreaterThan(moments.length / 2);
  process.stdout.write(`kill, worktree ${what}: ${calls} calls, killed before ${died} of them\n`);
}

function listing(place: WorktreeLibrary): readonly string[] {
  return treeListing(place.workspace, ['.waymark']);
}

describe('kill -9 at any step', { timeout: PATIENCE_MS }, () => {
  test.each(['run', 'fail'])(
    'of a run in a worktree (%s): the checkout is untouched, list explains it, resume and remove mend it',
    async (what) => {
      const place = await worktreeLibrary();
      place.write('dirty', 'mine\n');
      const before = listing(place);
      await everywhere(
        place,
        what,
        async () => {},
        async (at) => {
          const listed = await place.library.worktrees();
          for (const { state, detail } of listed) {
            expect(at < 0 ? ['kept'] : ['kept', 'orphaned', 'broken'], `at ${at}`).toContain(state);
            expect(state === 'kept' || detail !== undefined, `at ${at}`).toBe(true);
          }
          place.git('fsck', '--no-dangling');
          expect(
            place
              .git('status', '--porcelain')
              .split('\n')
              .filter((line) => line !== '?? .waymark/'),
          ).toEqual(['?? dirty']);
          expect(await place.library.status()).toMatchObject({ openRuns: [], interruptedRestore: undefined });
          const removing = listed.some(({ detail }) => detail?.includes('removal'));
          if (listed.length > 0 && !removing && at % 2 === 0 && at >= 0) {
            await place.library.runInWorktree({ resume: 'fix' }, async ({ worktree }) => {
              expect(existsSync(join(worktree.path, 'a.txt')), `at ${at}`).toBe(true);
            });
            expect(await place.library.worktrees()).toMatchObject([{ state: 'kept', runStatus: 'done' }]);
          }
          await place.library.worktreeRemove('fix', { force: true });
          expect(await place.library.worktrees()).toEqual([]);
          expect(listing(place), `at ${at}`).toEqual(before);
          await place.library.verify();
        },
      );
    },
  );

  test('of an apply: before or after, recover brings it to either, and another apply ends it', async () => {
    const place = await worktreeLibrary();
    place.write('gone', 'gone\n');
    place.commit('more');
    await place.agent(
      'fix',
      'sed -i s/one/ONE/ a.txt; mkdir -p d/e; echo new > d/e/new; rm gone; echo theirs > g.txt; chmod +x sub/s.txt',
    );
    place.write('a.txt', SIX.replace('six', 'SIX'));
    place.write('g.txt', 'ours\n');
    const before = listing(place);
    await place.library.worktreeApply('fix', { confirm: 'always' });
    const after = listing(place);
    expect(place.read('a.txt')).toBe(SIX.replace('six', 'SIX').replace('one', 'ONE'));
    await place.library.undo({ confirm: 'always' });
    let recovered = 0;
    await everywhere(
      place,
      'apply',
      async () => expect(listing(place)).toEqual(before),
      async (at) => {
        const apply = async () => await place.library.worktreeApply('fix', { confirm: 'always' });
        const next = await apply().catch((error: unknown) => error);
        if (isWaymarkError(next, 'RESTORE_INTERRUPTED')) {
          recovered += 1;
          const mode = recovered % 2 === 0 ? 'continue' : 'abort';
          await place.library.recover(mode);
          expect(listing(place), `${mode} at ${at}`).toEqual(mode === 'continue' ? after : before);
          await apply();
        } else expect(next, `at ${at}`).toMatchObject({ runId: 'fix' });
        expect(listing(place), `at ${at}`).toEqual(after);
        const left = (await place.library.listCheckpoints()).filter(
          ({ metadata }) => metadata.reason === 'worktree-apply',
        );
        expect(left, `at ${at}`).toEqual([]);
        await place.library.undo({ confirm: 'always' });
      },
    );
    expect(recovered).toBeGreaterThan(0);
  });

  test('of a forced removal: a checkpoint holds everything before the first file goes, and another removal ends it', async () => {
    const place = await worktreeLibrary();
    place.write('.gitignore', '*.log\n');
    place.commit('ignore');
    const before = listing(place);
    const wanted = ['dirty.log', 'new', 'sub/s.txt'];
    await everywhere(
      place,
      'remove',
      async () => {
        await place.agent('fix', 'echo log > dirty.log; echo new > new; echo changed > sub/s.txt');
      },
      async (at) => {
        const path = place.worktree('fix');
        const held = (await place.waymark.listCheckpoints({ run: 'fix' })).filter(
          ({ metadata }) => metadata.reason === 'worktree-remove',
        );
        const lost = wanted.filter((name) => !existsSync(join(path, name)));
        if (lost.length > 0) {
          const names = (await place.library.showCheckpoint(held[0]?.id ?? '')).entries.map(([name]) => name);
          for (const name of lost) expect(names, `at ${at}`).toContain(name);
        }
        for (const { state, detail } of await place.library.worktrees()) {
          expect(state === 'kept' || detail !== undefined, `at ${at}`).toBe(true);
        }
        place.git('fsck', '--no-dangling');
        await place.library.worktreeRemove('fix', { force: true });
        expect(listing(place), `at ${at}`).toEqual(before);
        expect(place.exists('.waymark')).toBe(false);
        for (const { id } of held) await place.library.deleteCheckpoint(id, { force: true });
      },
    );
  });
});
