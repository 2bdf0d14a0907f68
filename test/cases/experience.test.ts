import { chmodSync, mkdirSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { noise } from '../suites/drafts.ts';
import { cliSandbox } from '../support/cli-sandbox.ts';
import { readText, writeFiles } from '../support/files.ts';
import { openSandbox, sandbox } from '../support/sandbox.ts';
import { damageContent } from '../support/stored-content.ts';
import { goBack, take } from '../support/take.ts';
import { treeListing } from '../support/tree-listing.ts';

const engines = ['cas', 'git'] as const;

describe.each(engines)('what people see, engine %s', (engine) => {
  test('UX-04: list, show and restore agree on what cannot be restored', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { a: 'v1', big: noise(200_000, 7) });
    const id = await take(workspace, { engine });
    writeFiles(place.workspace, { a: 'v2', big: 'v2' });
    damageContent(place.home, noise(200_000, 7));
    const shown = await workspace.showCheckpoint(id);
    expect(shown.problems).toContainEqual(expect.objectContaining({ path: 'big' }));
    expect((await workspace.listCheckpoints())[0]).toMatchObject({ id, restorable: false });
    const preview = await workspace.restore({ checkpoint: id, dryRun: true });
    const { changes } = await workspace.diff({ from: id });
    expect(preview.changes.map((change) => change.path)).toEqual(changes.map((change) => change.path));
    await expect(goBack(workspace, id)).rejects.toMatchObject({ message: expect.stringContaining('big') });
    expect(readText(place.workspace, 'a')).toBe('v2');
  });

  test('UX-05: a dry run counts every kind of change and equals the real one', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    for (let n = 0; n < 25; n += 1) writeFiles(place.workspace, { [`f${n}`]: `${n}` });
    writeFiles(place.workspace, { turned: 'a file', moded: 'm' });
    const id = await take(workspace, { engine });
    for (let n = 0; n < 10; n += 1) writeFiles(place.workspace, { [`f${n}`]: 'changed' });
    for (let n = 10; n < 15; n += 1) unlinkSync(path.join(place.workspace, `f${n}`));
    for (let n = 0; n < 7; n += 1) writeFiles(place.workspace, { [`new${n}`]: 'n' });
    unlinkSync(path.join(place.workspace, 'turned'));
    symlinkSync('f0', path.join(place.workspace, 'turned'));
    chmodSync(path.join(place.workspace, 'moded'), 0o600);
    const before = treeListing(place.directory, ['home']).filter(
      (line) => !/waymark-home\/(?:locks|catalog)/.test(line),
    );
    const dry = await workspace.restore({ checkpoint: id, dryRun: true });
    expect(dry.summary).toEqual({ create: 5, modify: 10, delete: 7, mode: 1, type: 1 });
    expect(
      treeListing(place.directory, ['home']).filter((line) => !/waymark-home\/(?:locks|catalog)/.test(line)),
    ).toEqual(before);
    const real = await goBack(workspace, id);
    expect([real.summary, real.changes, real.skipped]).toEqual([dry.summary, dry.changes, dry.skipped]);
  });

  test('UX-07: a restore takes no later checkpoint away', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    const ids: string[] = [];
    for (let n = 1; n <= 3; n += 1) {
      writeFiles(place.workspace, { a: `${n}` });
      ids.push(await take(workspace, { engine }));
    }
    await goBack(workspace, ids[0] ?? '');
    expect((await workspace.listCheckpoints()).map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
    await goBack(workspace, ids[2] ?? '');
    expect(readText(place.workspace, 'a')).toBe('3');
  });

  test('UX-03: a restore touches files alone: sessions, records and metadata stay as they were', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { a: 'v1' });
    const metadata = { phase: 'execute', extra: { turn: 7, nested: { list: [1, null, 'x'] } } };
    const id = await take(workspace, { engine, session: 'one', metadata });
    writeFiles(place.workspace, { a: 'v2' });
    await take(workspace, { engine, session: 'two' });
    const result = await goBack(workspace, id);
    expect(result.target).toMatchObject({ id, sessionId: 'one', metadata });
    expect((await workspace.listCheckpoints({ session: 'two' })).length).toBeGreaterThan(0);
    expect((await workspace.findCheckpoint(id)).metadata).toMatchObject(metadata);
  });
});

test('UX-01, UX-05, UX-08, IC-18: the command line hints, asks, and says where each setting comes from', async () => {
  const place = cliSandbox();
  mkdirSync(path.join(place.work, 'sub'));
  place.write('sub/a', 'v1');
  const id = (await place.ok(['checkpoints', 'create', '--workspace', 'sub'])).trim();
  expect((await place.run(['checkpoints', 'list'])).stderr).toContain('--all');
  place.write('sub/a', 'v2');
  const refused = await place.run(['checkpoints', 'restore', id, '--workspace', 'sub']);
  expect({ status: refused.status, a: place.read('sub/a') }).toEqual({ status: 4, a: 'v2' });
  expect(refused.stderr).toContain('--yes');

  place.write('sub/waymark.toml', '[store]\nengine = "git"\n[retention]\nmax_store_bytes = "1KiB"\n');
  await place.ok(['checkpoints', 'create', '--workspace', 'sub']);
  const status = await place.json(['status', '--workspace', 'sub'], {
    env: { WAYMARK_LIMITS_MAX_FILES: '77' },
  });
  const setting = (key: string) => status.settings.find((one: { key: string }) => one.key === key);
  expect(setting('store.engine')).toMatchObject({
    value: 'git',
    origin: path.join(place.work, 'sub/waymark.toml'),
  });
  expect(setting('limits.max_files')).toMatchObject({ value: 77, origin: 'environment' });
  expect(setting('retention.keep')).toMatchObject({ value: 20, origin: 'default' });
  expect(status.last_checkpoint).toMatchObject({ engine: 'git' });
  expect(Date.parse(status.last_checkpoint.created_at)).toBeGreaterThan(0);
  expect(status.store.prune_would_free).not.toBeNull();
  const shown = await place.run(['status', '--workspace', 'sub']);
  expect(shown.stdout + shown.stderr).toMatch(/checkpoints prune would free/);
  rmSync(path.join(place.work, 'sub/waymark.toml'));
});

test('IC-18: library and command line use the same settings', async () => {
  const place = sandbox();
  writeFiles(place.workspace, { a: 'a', 'waymark.toml': '[store]\nengine = "git"\n' });
  const { workspace } = await openSandbox(place);
  expect((await workspace.createCheckpoint()).checkpoint?.engine).toBe('git');
  const environment = { ...place.environment, WAYMARK_STORE_ENGINE: 'cas' };
  const other = await openSandbox(place, { environment });
  expect((await other.workspace.createCheckpoint()).checkpoint?.engine).toBe('cas');
});
