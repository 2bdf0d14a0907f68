import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { cliSandbox } from '../support/cli-sandbox.ts';
import { readText, writeFiles } from '../support/files.ts';
import { openSandbox, type Sandbox, sandbox } from '../support/sandbox.ts';
import { goBack, take } from '../support/take.ts';
import { treeListing } from '../support/tree-listing.ts';

const engines = ['cas', 'git'] as const;
const catalogOf = ({ home }: Pick<Sandbox, 'home'>) => path.join(home, 'catalog.db');

/** Made by looking into a database or at a lock. */
const HELPERS = ['locks', 'catalog.db-shm', 'catalog.db-wal', 'catalog.db.create'];

function dropCatalog(place: Pick<Sandbox, 'home'>): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(catalogOf(place) + suffix, { force: true });
}

const DAMAGES: Readonly<Record<string, (file: string) => void>> = {
  'no database': (file) =>
    writeFileSync(file, 'this is no database, but long enough to look at it '.repeat(100)),
  'a damaged page': (file) => {
    const fd = openSync(file, 'r+');
    writeSync(fd, Buffer.alloc(statSync(file).size - 200, 0xa5), 0, statSync(file).size - 200, 100);
    closeSync(fd);
  },
  'half of it': (file) => truncateSync(file, 5000),
  'a directory': (file) => {
    rmSync(file);
    writeFiles(file, { x: '' });
  },
  'a link': (file) => {
    rmSync(file);
    symlinkSync('/etc/passwd', file);
  },
};

describe.each(engines)('the catalog, engine %s', (engine) => {
  test('CR-08: a missing catalog is made again on opening; pins stay, and nothing is dropped until it is asked for', async () => {
    const place = sandbox();
    const userFile = path.join(place.userHome, 'waymark.toml');
    writeFiles(place.userHome, { 'waymark.toml': '[retention]\nkeep = 2\n[store.git]\nkeep = 2\n' });
    const ids: string[] = [];
    {
      const { waymark, workspace } = await openSandbox(place);
      for (let n = 0; n < 4; n += 1) {
        writeFiles(place.workspace, { a: `${n}` });
        ids.push(await take(workspace, { engine, session: 's', label: `l${n}` }));
      }
      await workspace.pin(ids[1] ?? '', true);
      await waymark[Symbol.asyncDispose]();
    }
    dropCatalog(place);
    const { workspace } = await openSandbox(place, { userFile });
    const listed = await workspace.listCheckpoints();
    expect(listed.map(({ id, label, pinned }) => [id, label, pinned])).toEqual(
      ids.map((id, n) => [id, `l${n}`, n === 1]).toReversed(),
    );
    expect((await workspace.status()).retentionPaused).toBe(true);
    writeFiles(place.workspace, { a: 'later' });
    const next = await take(workspace, { engine, session: 's' });
    expect((await workspace.findCheckpoint(next)).seq).toBe(4);
    expect(await workspace.listCheckpoints()).toHaveLength(5);
    await goBack(workspace, ids[0] ?? '');
    expect(readText(place.workspace, 'a')).toBe('0');
    await workspace.prune();
    expect((await workspace.status()).retentionPaused).toBe(false);
    const left = (await workspace.listCheckpoints()).map(({ id }) => id);
    expect(left).toContain(ids[1]);
    expect(left).not.toContain(ids[0]);
  });

  test.each(Object.keys(DAMAGES))(
    'CR-08: where the catalog is %s, everything says so, changes nothing, and a rebuild mends it',
    async (what) => {
      const place = sandbox();
      writeFiles(place.workspace, { a: 'v1' });
      let id: string;
      {
        const { waymark, workspace } = await openSandbox(place);
        id = await take(workspace, { engine });
        await waymark[Symbol.asyncDispose]();
      }
      writeFiles(place.workspace, { a: 'v2' });
      DAMAGES[what]?.(catalogOf(place));
      const before = [treeListing(place.workspace), treeListing(place.home, HELPERS)];
      const opening = (async () => {
        const { workspace } = await openSandbox(place);
        await goBack(workspace, id);
      })();
      await expect(opening).rejects.toMatchObject({
        code: expect.stringMatching(/^(?:CATALOG_CORRUPT|UNSAFE_PATH)$/),
        message: expect.stringContaining('catalog.db'),
      });
      expect([treeListing(place.workspace), treeListing(place.home, HELPERS)]).toEqual(before);
      const { waymark, workspace } = await openSandbox(place, { rebuildCatalog: true });
      expect(await waymark.doctor()).toMatchObject({ problems: [], rebuilt: true, checkpoints: 1 });
      await goBack(workspace, id);
      expect(readText(place.workspace, 'a')).toBe('v1');
      expect(readdirSync(place.home).some((name) => name.startsWith('catalog.db.replaced-'))).toBe(true);
    },
  );
});

test('CR-08: on the command line a damaged catalog is one line, status 1, and doctor --rebuild-catalog mends it', async () => {
  const place = cliSandbox();
  place.write('a', 'v1');
  const id = (await place.ok(['checkpoints', 'create'])).trim();
  await place.ok(['checkpoints', 'pin', id]);
  place.write('a', 'v2');
  DAMAGES['no database']?.(catalogOf(place));
  const failed = await place.run(['checkpoints', 'restore', id, '--yes']);
  expect({ status: failed.status, stdout: failed.stdout }).toEqual({ status: 1, stdout: '' });
  expect(failed.stderr).toContain('catalog.db');
  expect(failed.stderr).toContain('doctor --rebuild-catalog');
  expect(failed.stderr.trim().split('\n')).toHaveLength(2);
  expect(place.read('a')).toBe('v2');
  const report = await place.json(['doctor', '--rebuild-catalog']);
  expect(report).toMatchObject({ problems: [], rebuilt: true, checkpoints: 1 });
  const [listed] = await place.json(['checkpoints', 'list']);
  expect(listed).toMatchObject({ checkpoint_id: id, pinned: true });
  await place.ok(['checkpoints', 'restore', id, '--yes']);
  expect(place.read('a')).toBe('v1');
});

test.each([4096, 8192, 12288, 20480, 40960])(
  'CR-08: doctor says so where 100 bytes at %i of the catalog are damaged, and mends it when asked',
  async (offset) => {
    const place = cliSandbox();
    place.write('a', 'v1');
    const id = (await place.ok(['checkpoints', 'create'])).trim();
    await place.ok(['exec', '-q', '--', 'sh', '-c', 'echo v2 > a']);
    const size = statSync(catalogOf(place)).size;
    expect(size).toBeGreaterThan(offset);
    const fd = openSync(catalogOf(place), 'r+');
    writeSync(fd, Buffer.alloc(100, 0xa5), 0, 100, offset);
    closeSync(fd);
    const before = treeListing(place.home, HELPERS);
    const failed = await place.run(['doctor', '-f', 'json']);
    expect(failed.status).toBe(1);
    expect(JSON.parse(failed.stdout).error).toMatchObject({
      code: 'CATALOG_CORRUPT',
      message: expect.stringContaining('catalog.db'),
      hint: expect.stringContaining('doctor --rebuild-catalog'),
    });
    expect(treeListing(place.home, HELPERS)).toEqual(before);
    await place.ok(['doctor', '--rebuild-catalog']);
    await place.ok(['doctor']);
    await place.ok(['checkpoints', 'restore', id, '--yes']);
    expect(place.read('a')).toBe('v1');
  },
);

test('CR-08: doctor says so where a record of the catalog cannot be read, though SQLite finds its file in order', async () => {
  const place = cliSandbox();
  place.write('a', 'v1');
  await place.ok(['exec', '-q', '--', 'sh', '-c', 'echo v2 > a']);
  const database = new DatabaseSync(catalogOf(place));
  database.exec(`UPDATE workspace SET record = '{'`);
  database.close();
  const failed = await place.run(['doctor']);
  expect(failed.status).toBe(1);
  expect(failed.stderr).toMatch(/damaged: column record .*\nhint: .*--rebuild-catalog/);
});

test('CR-08: a catalog of a newer Waymark is refused by name and left as it is', async () => {
  const place = cliSandbox();
  place.write('a', 'v1');
  await place.ok(['checkpoints', 'create']);
  const database = new DatabaseSync(catalogOf(place));
  database.exec('PRAGMA user_version = 9999');
  database.close();
  const failed = await place.run(['checkpoints', 'list', '--format', 'json']);
  expect(failed.status).toBe(1);
  expect(JSON.parse(failed.stdout).error.code).toBe('FORMAT_UNSUPPORTED');
  const again = new DatabaseSync(catalogOf(place));
  expect(again.prepare('PRAGMA user_version').get()).toEqual({ user_version: 9999 });
  again.close();
  expect(existsSync(catalogOf(place))).toBe(true);
});
