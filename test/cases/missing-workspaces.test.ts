import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { cliSandbox } from '../support/cli-sandbox.ts';
import { readText, writeFiles } from '../support/files.ts';
import { openSandbox, sandbox } from '../support/sandbox.ts';
import { goBack, take } from '../support/take.ts';
import { treeListing } from '../support/tree-listing.ts';

const engines = ['cas', 'git'] as const;

describe.each(engines)('workspaces that are missing or replaced, engine %s', (engine) => {
  test.each(['missing', 'replaced', 'a file', 'a link'])(
    'CR-04: checkpoints of a workspace that is %s stay, whatever is pruned unattended',
    async (what) => {
      const place = sandbox();
      writeFiles(place.userHome, {
        'waymark.toml':
          '[retention]\nkeep = 2\nmax_age = "30s"\nmax_store_bytes = "1B"\n[store.git]\nkeep = 2\n',
      });
      const open = { userFile: path.join(place.userHome, 'waymark.toml') };
      const { waymark, workspace } = await openSandbox(place, open);
      writeFiles(place.workspace, { a: 'v1' });
      const first = await take(workspace, { engine, session: 's' });
      writeFiles(place.workspace, { a: 'v2' });
      const second = await take(workspace, { engine, session: 's' });
      renameSync(place.workspace, `${place.workspace}-away`);
      const later60 = Date.now() + 60_000;
      if (what === 'replaced') mkdirSync(place.workspace);
      if (what === 'a file') writeFiles(place.directory, { workspace: '' });
      if (what === 'a link') {
        mkdirSync(path.join(place.directory, 'elsewhere'));
        symlinkSync('elsewhere', place.workspace);
      }

      const later = await openSandbox(
        { ...place, workspace: makeDirectory(place.directory, 'other') },
        { ...open, clock: { now: () => later60 } },
      );
      for (let n = 0; n < 4; n += 1) {
        writeFiles(place.directory, { 'other/b': `${n}` });
        await take(later.workspace, { engine, session: `t${n}` });
      }
      const dry = await later.workspace.prune({ dryRun: true });
      const pruned = await later.workspace.prune();
      expect(pruned.dropped.map(({ checkpoint }) => checkpoint.id)).toEqual(
        dry.dropped.map(({ checkpoint }) => checkpoint.id),
      );
      const ids = async () => (await waymark.listCheckpoints()).map(({ id }) => id);
      expect(await ids()).toEqual(expect.arrayContaining([first, second]));

      const shown = await later.workspace.prune({ orphans: true, dryRun: true });
      const orphans = shown.dropped.filter(({ checkpoint }) => checkpoint.workspace.path === place.workspace);
      expect(orphans.map(({ checkpoint }) => checkpoint.id).sort()).toEqual([first, second]);
      await expect(later.workspace.prune({ orphans: true })).rejects.toMatchObject({
        code: 'CONFIRMATION_REQUIRED',
      });
      await expect(later.workspace.prune({ orphans: true, confirm: () => false })).rejects.toMatchObject({
        code: 'DECLINED',
      });
      expect(await ids()).toEqual(expect.arrayContaining([first, second]));

      rmSync(place.workspace, { recursive: true, force: true });
      renameSync(`${place.workspace}-away`, place.workspace);
      const back = await waymark.openWorkspace(place.workspace);
      await goBack(back, first);
      expect(readText(place.workspace, 'a')).toBe('v1');
      renameSync(place.workspace, `${place.workspace}-away`);
      await later.workspace.prune({ orphans: true, confirm: () => true });
      expect(await ids()).not.toContain(second);
    },
  );

  test('CR-04: checkpoints taken at an empty mount point push none of the real workspace out', async () => {
    const place = sandbox();
    writeFiles(place.userHome, {
      'waymark.toml': '[retention]\nkeep = 2\nmax_age = "1s"\n[store.git]\nkeep = 2\n',
    });
    const open = { userFile: path.join(place.userHome, 'waymark.toml') };
    writeFiles(place.workspace, { a: 'v1' });
    let real: string;
    {
      const { workspace } = await openSandbox(place, open);
      real = await take(workspace, { engine, session: 's' });
    }
    renameSync(place.workspace, `${place.workspace}-away`);
    mkdirSync(place.workspace);
    const { workspace } = await openSandbox(place, { ...open, clock: { now: () => Date.now() + 60_000 } });
    const before = treeListing(place.workspace);
    await expect(goBack(workspace, real)).rejects.toMatchObject({ code: 'WORKSPACE_MISMATCH' });
    expect(treeListing(place.workspace)).toEqual(before);
    for (let n = 0; n < 5; n += 1) {
      writeFiles(place.workspace, { junk: `${n}` });
      await take(workspace, { engine, session: n % 2 === 0 ? 's' : `t${n}` });
    }
    await workspace.prune();
    expect((await workspace.listCheckpoints()).map(({ id }) => id)).toContain(real);
    const dropped = (await workspace.prune({ orphans: true, dryRun: true })).dropped;
    expect(dropped.map(({ checkpoint }) => checkpoint.id)).toContain(real);
    rmSync(place.workspace, { recursive: true });
    renameSync(`${place.workspace}-away`, place.workspace);
    const again = await openSandbox(place, open);
    writeFiles(place.workspace, { a: 'v2' });
    await goBack(again.workspace, real);
    expect(readText(place.workspace, 'a')).toBe('v1');
  });

  test('CR-06: a restore that was interrupted is not recovered in a directory that took the place of its own', async () => {
    const place = sandbox();
    writeFiles(place.workspace, { a: 'v1', b: 'v1', c: 'v1' });
    let id: string;
    {
      let writes = -1;
      const { waymark, workspace } = await openSandbox(place, {
        stepHook: (_, subject) => {
          if (writes >= 0 && subject.startsWith('/proc/self/fd/')) writes += 1;
          if (writes > 3) throw Object.assign(new Error('stopped'), { code: 'ENOSPC' });
        },
      });
      id = await take(workspace, { engine });
      writeFiles(place.workspace, { a: 'v2', b: 'v2', c: 'v2' });
      writes = 0;
      await expect(goBack(workspace, id)).rejects.toThrow();
      await waymark[Symbol.asyncDispose]();
    }
    renameSync(place.workspace, `${place.workspace}-away`);
    mkdirSync(place.workspace);
    {
      const { waymark, workspace } = await openSandbox(place);
      for (const mode of ['continue', 'abort'] as const) {
        await expect(workspace.recover(mode)).rejects.toMatchObject({ code: 'WORKSPACE_MISMATCH' });
      }
      await waymark[Symbol.asyncDispose]();
    }
    rmSync(place.workspace, { recursive: true });
    renameSync(`${place.workspace}-away`, place.workspace);
    const { workspace } = await openSandbox(place);
    await workspace.recover('abort');
    expect(['a', 'b', 'c'].map((name) => readText(place.workspace, name))).toEqual(['v2', 'v2', 'v2']);
  });

  test('DL-20: a replaced root stops restore, undo and deletes until it is forced', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { a: 'v1', 'd/b': 'v1' });
    const id = await take(workspace, { engine });
    await workspace.run({ engine }, async () => writeFiles(place.workspace, { a: 'v2' }));
    rmSync(place.workspace, { recursive: true });
    writeFiles(place.workspace, { a: 'v2', own: 'of the new directory' });
    const again = await openSandbox(place);
    const before = treeListing(place.workspace);
    const mismatch = { code: 'WORKSPACE_MISMATCH', message: expect.stringContaining(place.workspace) };
    await expect(goBack(again.workspace, id)).rejects.toMatchObject(mismatch);
    await expect(goBack(again.workspace, id, ['a'])).rejects.toMatchObject(mismatch);
    await expect(again.workspace.restore({ checkpoint: id, dryRun: true })).rejects.toMatchObject(mismatch);
    await expect(again.workspace.undo({ confirm: 'always' })).rejects.toMatchObject(mismatch);
    expect(treeListing(place.workspace)).toEqual(before);
    await goBack(again.workspace, id, [], { into: path.join(place.directory, 'out') });
    expect(readText(place.directory, 'out/a')).toBe('v1');
    await goBack(again.workspace, id, [], { force: true });
    expect(readText(place.workspace, 'a') + readText(place.workspace, 'd/b')).toBe('v1v1');
  });
});

test('CR-04: status, the preview and the action name the same missing workspaces', async () => {
  const place = cliSandbox();
  place.write('../gone/a', 'a');
  const id = (await place.ok(['checkpoints', 'create', '--workspace', '../gone'])).trim();
  await place.ok(['checkpoints', 'create']);
  renameSync(path.join(place.base, 'gone'), path.join(place.base, 'moved'));
  const status = await place.json(['status']);
  expect(status.orphans).toEqual([
    { workspace: path.join(place.base, 'gone'), state: 'missing', checkpoints: 1 },
  ]);
  expect((await place.run(['status'])).stderr).toContain(path.join(place.base, 'gone'));
  expect((await place.json(['checkpoints', 'prune'])).dropped).toEqual([]);
  const preview = await place.json(['checkpoints', 'prune', '--orphans', '--dry-run']);
  expect(preview.dropped).toEqual([expect.objectContaining({ checkpoint_id: id })]);
  const refused = await place.run(['checkpoints', 'prune', '--orphans']);
  expect(refused.status).toBe(4);
  expect(await place.json(['checkpoints', 'list', '--all'])).toHaveLength(2);
  expect((await place.json(['checkpoints', 'prune', '--orphans', '--yes'])).dropped).toEqual(preview.dropped);
  expect(await place.json(['checkpoints', 'list', '--all'])).toHaveLength(1);
  expect((await place.json(['status'])).orphans).toEqual([]);
});

function makeDirectory(parent: string, name: string): string {
  const directory = path.join(parent, name);
  mkdirSync(directory);
  return directory;
}
