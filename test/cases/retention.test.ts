import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { PruneReport, Waymark, Workspace } from '../../src/index.ts';
import { noise } from '../suites/drafts.ts';
import { writeFiles } from '../support/files.ts';
import { openSandbox, type Sandbox, sandbox } from '../support/sandbox.ts';
import { placesOf } from '../support/stored-content.ts';
import { take } from '../support/take.ts';
import { treeListing } from '../support/tree-listing.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const BIG = 200_000;

/** Runs of a workspace whose ends stay whatever the policy says (design, section 6). */
const KEPT_RUNS = 10;

function du({ home }: Sandbox): number {
  const stores = ['checkpoints', 'projects'].map((name) => path.join(home, name)).filter(existsSync);
  const lines = execFileSync('du', ['-s', '-B1', ...stores])
    .toString()
    .trim()
    .split('\n');
  return lines.reduce((bytes, line) => bytes + Number(line.split('\t')[0]), 0);
}

async function bytesOf(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(pieces));
}

function listing({ home }: Sandbox): readonly string[] {
  return treeListing(home).filter((line) => !/^(?:locks|catalog)|waymark\.db/.test(line));
}

/** A dry run, which must change nothing, and the real one, which must do what the dry run said. */
async function pruneTwice(place: Sandbox, waymark: Waymark, workspace: Workspace): Promise<PruneReport> {
  const [files, listed] = [listing(place), await waymark.listCheckpoints()];
  const dry = await workspace.prune({ dryRun: true });
  expect(listing(place)).toEqual(files);
  expect(await waymark.listCheckpoints()).toEqual(listed);
  const real = await workspace.prune();
  const dropped = ({ dropped }: PruneReport) =>
    dropped.map(({ checkpoint, reason }) => [checkpoint.id, reason]);
  expect(dropped(real)).toEqual(dropped(dry));
  // How git packs anew is not known to the byte beforehand.
  const slack = existsSync(path.join(place.home, 'projects')) ? 64 * 1024 : 0;
  expect(real.bytesBefore).toBe(dry.bytesBefore);
  expect(Math.abs(real.bytesFreed - dry.bytesFreed)).toBeLessThanOrEqual(slack);
  const gone = new Set(real.dropped.map(({ checkpoint }) => checkpoint.id));
  expect(await waymark.listCheckpoints()).toEqual(listed.filter(({ id }) => !gone.has(id)));
  expect((await workspace.prune()).dropped).toEqual([]);
  expect((await workspace.verify()).problems).toEqual([]);
  return real;
}

describe.each(['cas', 'git'] as const)('retention, engine %s', (engine) => {
  test('PD-10: of 25 captures 20 are left, and a pinned one; after a prune the others are off the disk', async () => {
    const place = sandbox();
    const environment = { ...place.environment, WAYMARK_STORE_GIT_KEEP: '20' };
    const { workspace, waymark } = await openSandbox(place, { environment });
    const ids: string[] = [];
    for (let n = 0; n < 25; n += 1) {
      writeFiles(place.workspace, { big: noise(BIG, n + 1), same: 'same' });
      ids.push(await take(workspace, { engine, session: 's' }));
      if (n === 2) await workspace.pin(ids[2] ?? '', true);
    }
    const left = [ids[2], ...ids.slice(5)];
    const listed = async () => (await workspace.listCheckpoints()).map(({ id }) => id).sort();
    expect(await listed()).toEqual(left);
    const size = du(place);
    expect(size).toBeGreaterThan(24 * BIG);

    const { bytesFreed, bytesAfter } = await pruneTwice(place, waymark, workspace);
    expect(await listed()).toEqual(left);
    expect(Math.abs(bytesAfter - du(place))).toBeLessThan(64 * 1024);
    expect(size - du(place)).toBeGreaterThan(4 * BIG - 64 * 1024);
    expect(bytesFreed).toBeGreaterThan(4 * BIG - 64 * 1024);
    for (const [n, id] of ids.entries()) {
      const isLeft = left.includes(id);
      expect(placesOf(place.home, noise(BIG, n + 1)).length > 0, `content ${n}`).toBe(isLeft);
      if (isLeft) expect(await bytesOf(workspace.cat(id, 'big'))).toEqual(noise(BIG, n + 1));
      else await expect(workspace.findCheckpoint(id)).rejects.toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' });
    }
    for (const id of [left[0], left[1], left[20]]) {
      const into = path.join(place.directory, `copy-${id}`);
      await workspace.restore({ checkpoint: id ?? '', into, confirm: 'always' });
      expect(readFileSync(path.join(into, 'big'))).toEqual(noise(BIG, ids.indexOf(id ?? '') + 1));
    }
  });

  test('PD-10: max_age drops what ended sessions hold, but no workspace’s newest, and nothing of a missing one', async () => {
    const place = sandbox();
    const environment = { ...place.environment, WAYMARK_RETENTION_MAX_AGE: '30d' };
    let now = Date.now() - 100 * DAY;
    const { workspace: main, waymark } = await openSandbox(place, { environment, clock: { now: () => now } });
    writeFiles(place.directory, { 'away/a': 'a', 'quiet/a': 'a' });
    const [away, quiet] = await Promise.all(
      ['away', 'quiet'].map((name) => waymark.openWorkspace(path.join(place.directory, name))),
    );
    if (away === undefined || quiet === undefined) throw new Error('not opened');
    for (let n = 0; n < 4; n += 1) {
      for (const [root, name] of [
        [main, 'workspace'],
        [away, 'away'],
        [quiet, 'quiet'],
      ] as const) {
        now += HOUR;
        writeFiles(place.directory, { [`${name}/big`]: noise(40_000, 10 * n + name.length) });
        await take(root, { engine, session: `${name}-${n}` });
      }
    }
    // A session that goes on keeps all that it holds, however old.
    writeFiles(place.workspace, { big: noise(40_000, 500) });
    await take(main, { engine, session: 'goes-on' });
    for (let n = 0; n < KEPT_RUNS + 2; n += 1) {
      now += HOUR;
      await main.run({ engine, label: `${n}` }, async () =>
        writeFiles(place.workspace, { big: noise(40_000, 1000 + n) }),
      );
    }
    const all = await waymark.listCheckpoints();
    now = Date.now();
    await take(main, { engine, session: 'goes-on' });
    renameSync(path.join(place.directory, 'away'), path.join(place.directory, 'gone-away'));
    const ids = async (workspace: Workspace) =>
      (await waymark.listCheckpoints())
        .filter((checkpoint) => checkpoint.workspace.path === workspace.identity.path)
        .map(({ id }) => id);
    const [ofAway, ofQuiet] = [await ids(away), await ids(quiet)];

    const { dropped } = await pruneTwice(place, waymark, main);
    expect(new Set(dropped.map(({ reason }) => reason))).toEqual(new Set(['older than max_age']));
    expect(await ids(away)).toEqual(ofAway);
    expect(await ids(quiet)).toEqual(ofQuiet.slice(0, 1));
    const left = new Set((await waymark.listCheckpoints()).map(({ id }) => id));
    const kept = (await main.operations({ limit: 100 }))
      .slice(0, KEPT_RUNS)
      .flatMap(({ before, after }) => [before, after]);
    const expected = all.filter(
      ({ id, sessionId, workspace }) =>
        workspace.path !== main.identity.path || sessionId === 'goes-on' || kept.includes(id),
    );
    expect(all.filter(({ id }) => left.has(id)).map(({ id }) => id)).toEqual(
      expected.filter(({ id }) => !ofQuiet.slice(1).includes(id)).map(({ id }) => id),
    );
    for (const { checkpoint } of dropped) {
      const [name, n] = checkpoint.sessionId.split('-');
      if (name !== 'workspace' && name !== 'quiet') continue;
      expect(placesOf(place.home, noise(40_000, 10 * Number(n) + name.length))).toEqual([]);
    }
  });

  test('PD-10: max_store_bytes drops the oldest of ended sessions until it fits, and nothing of a missing workspace', async () => {
    const place = sandbox();
    const limit = 1_400_000;
    const environment = { ...place.environment, WAYMARK_RETENTION_MAX_STORE_BYTES: `${limit}` };
    let now = Date.now() - 10 * DAY;
    const { workspace: main, waymark } = await openSandbox(place, { environment, clock: { now: () => now } });
    writeFiles(place.directory, { 'away/big': noise(BIG, 7) });
    const away = await waymark.openWorkspace(path.join(place.directory, 'away'));
    await away.run({ engine }, async () => writeFiles(place.directory, { 'away/big': noise(BIG, 8) }));
    writeFiles(place.workspace, { big: noise(BIG, 9) });
    const open = await take(main, { engine, session: 'goes-on' });
    const runs: string[] = [];
    for (let n = 0; n < KEPT_RUNS + 4; n += 1) {
      now += HOUR;
      const { before, after } = await main.run({ engine }, async () => {
        writeFiles(place.workspace, { big: noise(n < 4 ? BIG : 20_000, 100 + n) });
      });
      runs.push(before?.id ?? '', after?.id ?? '');
    }
    renameSync(path.join(place.directory, 'away'), path.join(place.directory, 'gone-away'));
    now += HOUR;
    expect((await main.status()).storeBytes).toBeGreaterThan(limit);
    const { dropped, bytesAfter } = await pruneTwice(place, waymark, main);
    expect(bytesAfter).toBeLessThanOrEqual(limit);
    expect(du(place)).toBeLessThanOrEqual(limit + 64 * 1024);
    expect(new Set(dropped.map(({ reason }) => reason))).toEqual(
      new Set(['the store is over max_store_bytes']),
    );
    // The oldest, no more of them than it takes.
    expect(dropped.map(({ checkpoint }) => checkpoint.id)).toEqual(runs.slice(0, dropped.length));
    expect(dropped.length).toBeLessThan(8);
    const left = await waymark.listCheckpoints();
    expect(left.map(({ id }) => id)).toEqual(expect.arrayContaining([open, ...runs.slice(8)]));
    expect(left.filter(({ workspace }) => workspace.path === away.identity.path)).toHaveLength(2);
  });
});
