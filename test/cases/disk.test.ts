import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createGit } from '../../src/platform/git-process.ts';
import { noise } from '../suites/drafts.ts';
import { cliSandbox } from '../support/cli-sandbox.ts';
import { readText, writeFiles } from '../support/files.ts';
import { openSandbox, type Sandbox, sandbox } from '../support/sandbox.ts';
import { goBack, take } from '../support/take.ts';
import { treeListing } from '../support/tree-listing.ts';

const engines = ['cas', 'git'] as const;
const DAY = 86_400_000;

/** Bytes on disk as `du` counts them; the numbers of the parts that the product calls its store. */
function du(...directories: readonly string[]): number {
  return directories
    .filter((directory) => existsSync(directory))
    .map((directory) => Number(execFileSync('du', ['-s', '-B1', directory]).toString().split('\t')[0]))
    .reduce((sum, bytes) => sum + bytes, 0);
}

const storesOf = (home: string) => [path.join(home, 'checkpoints'), path.join(home, 'projects')];

describe.each(engines)('disk and scale, engine %s', (engine) => {
  test('PD-01: old leftovers of killed processes go, fresh ones stay, and the size told is what du says', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    for (let n = 0; n < 3; n += 1) {
      writeFiles(place.workspace, { a: `${n}`, [`big${n}`]: noise(100_000, n) });
      await take(workspace, { engine, session: 's' });
    }
    const places =
      engine === 'cas'
        ? [
            'checkpoints',
            'checkpoints/s',
            `checkpoints/blobs/${readdirSync(path.join(place.home, 'checkpoints/blobs'))[0]}`,
          ]
        : [shadowOf(place), `${shadowOf(place)}/objects/pack`].map((directory) =>
            path.relative(place.home, directory),
          );
    const planted = (name: string, hours: number, directories: readonly string[]) =>
      directories.map((directory) => {
        const file = path.join(place.home, directory, name);
        writeFileSync(file, 'half written');
        utimesSync(file, Date.now() / 1000 - hours * 3600, Date.now() / 1000 - hours * 3600);
        return file;
      });
    const own = [...places, 'stat-cache', 'journal', '.'];
    mkdirSync(path.join(place.home, 'journal'), { recursive: true });
    const old = [...planted('tmp_pack_old', 2, places), ...planted('.x.0123456789ab.tmp', 2, own)];
    const fresh = [...planted('tmp_pack_new', 0, places), ...planted('.y.0123456789ab.tmp', 0, own)];
    await workspace.prune();
    expect(old.filter((file) => existsSync(file))).toEqual([]);
    expect(fresh.filter((file) => !existsSync(file))).toEqual([]);
    expect((await workspace.verify()).problems).toEqual([]);
    const store = engine === 'cas' ? path.join(place.home, 'checkpoints') : shadowOf(place);
    expect((await workspace.status()).storeBytes).toBe(du(store));
    expect((await workspace.prune()).bytesAfter).toBe(du(store));
  });

  test.each(['plain', 'through a link', 'named by a link'])(
    'PD-02: a store inside the workspace (%s) is never captured',
    async (how) => {
      const place = sandbox();
      writeFiles(place.workspace, { a: '0', 'src/b': 'b' });
      let home = path.join(place.workspace, 'tools', '.ckpt');
      mkdirSync(home, { recursive: true });
      if (how === 'through a link') {
        symlinkSync('tools', path.join(place.workspace, 'alias'));
        home = path.join(place.workspace, 'alias', '.ckpt');
      }
      if (how === 'named by a link') {
        symlinkSync(path.join(place.workspace, 'tools/.ckpt'), path.join(place.directory, 'home-link'));
        home = path.join(place.directory, 'home-link');
      }
      const { workspace } = await openSandbox(place, { home });
      const ids: string[] = [];
      const sizes: number[] = [];
      for (let n = 0; n < 5; n += 1) {
        writeFiles(place.workspace, { a: `${n}` });
        ids.push(await take(workspace, { engine }));
        sizes.push(du(...storesOf(path.join(place.workspace, 'tools/.ckpt'))));
      }
      for (const id of ids) {
        const { entries } = await workspace.showCheckpoint(id);
        expect(entries.filter(([name, node]) => name.includes('.ckpt/') && node.kind !== 'observed')).toEqual(
          [],
        );
      }
      expect((sizes[4] ?? 0) - (sizes[1] ?? 0)).toBeLessThan(3 * 64 * 1024);
      await goBack(workspace, ids[0] ?? '');
      expect(readText(place.workspace, 'a')).toBe('0');
      expect((await workspace.verify()).problems).toEqual([]);
      await goBack(workspace, ids[4] ?? '', ['tools']);
      expect((await workspace.listCheckpoints()).length).toBeGreaterThan(5);
    },
  );

  test('PD-05, PD-07: one change in many files is one file read and little disk', async () => {
    const place = sandbox();
    writeFiles(place.workspace, { 'waymark.toml': '[limits]\nmax_total_bytes = "1GiB"\n' });
    for (let n = 0; n < 1500; n += 1)
      writeFiles(place.workspace, { [`d${n % 60}/e${n % 7}/f${n}`]: noise(2000 + (n % 50) * 100, n) });
    const before = new Date(Date.now() - 60_000);
    execFileSync('find', [place.workspace, '-exec', 'touch', '-h', '-d', before.toISOString(), '{}', '+']);
    const { workspace } = await openSandbox(place);
    await new Promise((resolve) => setTimeout(resolve, 60));
    const first = await workspace.createCheckpoint({ engine, session: 's' });
    expect(first.stats.filesRead).toBe(1501);
    const size = du(...storesOf(place.home));
    writeFiles(place.workspace, { 'd5/e5/f5': 'changed' });
    const second = await workspace.createCheckpoint({ engine, session: 's' });
    expect(second.stats).toMatchObject({ filesObserved: 1501, filesRead: 1, filesReused: 1500 });
    expect(du(...storesOf(place.home)) - size).toBeLessThan(96 * 1024);
    expect((await workspace.status()).storeBytes).toBeLessThan(size + 96 * 1024);
    const { changes } = await workspace.diff({
      from: first.checkpoint?.id ?? '',
      to: second.checkpoint?.id ?? '',
    });
    expect(changes.map((change) => change.path)).toEqual(['d5/e5/f5']);
  });

  test('PD-10: a prune of many dead sessions does what its dry run says, and the disk is free again', async () => {
    const place = sandbox();
    writeFiles(place.userHome, {
      'waymark.toml': '[retention]\nkeep = 2\nmax_age = "10d"\n[store.git]\nkeep = 1000\n',
    });
    const userFile = path.join(place.userHome, 'waymark.toml');
    let now = Date.now() - 30 * DAY;
    const { workspace, waymark } = await openSandbox(place, { userFile, clock: { now: () => now } });
    for (let n = 0; n < 12; n += 1) {
      now += 2 * DAY;
      writeFiles(place.workspace, { a: `${n}`, blob: noise(50_000, n) });
      const { checkpoint } = await workspace.createCheckpoint({ engine, session: `dead-${n}` });
      if (n === 3) await workspace.pin(checkpoint?.id ?? '', true);
    }
    now = Date.now();
    const size = du(...storesOf(place.home));
    const listed = await waymark.listCheckpoints();
    const stored = () =>
      storesOf(place.home)
        .filter((directory) => existsSync(directory))
        .map((directory) => treeListing(directory).filter((line) => !line.includes('waymark.db')));
    const before = stored();
    const dry = await workspace.prune({ dryRun: true });
    expect(stored()).toEqual(before);
    expect(await waymark.listCheckpoints()).toEqual(listed);
    const real = await workspace.prune();
    expect(real.dropped.map(({ checkpoint, reason }) => [checkpoint.id, reason])).toEqual(
      dry.dropped.map(({ checkpoint, reason }) => [checkpoint.id, reason]),
    );
    expect(real.dropped.length).toBeGreaterThan(3);
    expect(Math.abs(real.bytesFreed - dry.bytesFreed)).toBeLessThan(64 * 1024);
    expect(Math.abs(du(...storesOf(place.home)) - real.bytesAfter)).toBeLessThan(64 * 1024);
    expect(real.bytesAfter).toBeLessThan(size - real.dropped.length * 45_000);
    const left = (await waymark.listCheckpoints()).map(({ sessionId }) => sessionId);
    expect(left).toContain('dead-3');
    expect(left).toContain('dead-11');
    expect((await workspace.verify()).problems).toEqual([]);
    expect((await workspace.prune()).dropped).toEqual([]);
  });

  test('PD-10: beyond its bytes the store drops the oldest of dead sessions until it fits', async () => {
    const place = sandbox();
    writeFiles(place.userHome, { 'waymark.toml': '[retention]\nmax_store_bytes = "600KiB"\n' });
    const userFile = path.join(place.userHome, 'waymark.toml');
    let now = Date.now() - 60 * DAY;
    const { workspace } = await openSandbox(place, { userFile, clock: { now: () => now } });
    for (let n = 0; n < 10; n += 1) {
      now += DAY;
      writeFiles(place.workspace, { blob: noise(100_000, n) });
      await take(workspace, { engine, session: `dead-${n}` });
    }
    now = Date.now() - 20 * DAY;
    const status = await workspace.status();
    expect(status.pruneWouldFree).toBeGreaterThan(300_000);
    now = Date.now() + DAY;
    const real = await workspace.prune();
    expect(real.bytesAfter).toBeLessThan(600 * 1024);
    const left = (await workspace.listCheckpoints()).map(({ sessionId }) => sessionId);
    expect(left).toContain('dead-9');
    expect(left).not.toContain('dead-0');
    expect((await workspace.status()).pruneWouldFree).toBeUndefined();
    expect((await workspace.verify()).problems).toEqual([]);
  });

  test('PD-12: a large file is stored, compared and restored in pieces; without room for it, it is left', async () => {
    const place = cliSandbox();
    place.write('small', 'v1');
    place.write('large', '');
    truncateSync(path.join(place.work, 'large'), 96 * 1024 ** 2);
    const skipped = await place.json(['checkpoints', 'create', '--store', engine], { status: 5 });
    expect(skipped.checkpoint.coverage.skipped).toEqual([{ path: 'large', reason: 'over_cap' }]);
    expect(skipped.stats.files_read).toBe(1);
    const env = {
      WAYMARK_LIMITS_MAX_FILE_BYTES: '1GiB',
      WAYMARK_LIMITS_MAX_TOTAL_BYTES: '2GiB',
      NODE_OPTIONS: '--max-old-space-size=60',
    };
    const id = (await place.ok(['checkpoints', 'create', '--store', engine], { env })).trim();
    writeFileSync(path.join(place.work, 'large'), 'small now');
    const diff = await place.json(['checkpoints', 'diff', id], { env });
    expect(diff.changes).toEqual([expect.objectContaining({ path: 'large', action: 'modify' })]);
    await place.ok(['checkpoints', 'restore', id, '--yes'], { env });
    expect(statSync(path.join(place.work, 'large')).size).toBe(96 * 1024 ** 2);
    expect(
      execFileSync('sh', ['-c', 'head -c 100663296 /dev/zero | cmp - large'], { cwd: place.work }).toString(),
    ).toBe('');
  });

  test('PD-12: a listing of many thousand paths comes out whole', async () => {
    const place = cliSandbox();
    const long = 'a-rather-long-directory-name-to-make-the-listing-large'.repeat(4);
    execFileSync('sh', ['-c', `mkdir -p ${long}/${long}; cd ${long}/${long}; seq 1 4000 | xargs touch`], {
      cwd: place.work,
    });
    const id = (await place.ok(['checkpoints', 'create', '--store', engine])).trim();
    const shown = await place.json(['checkpoints', 'show', id]);
    expect(shown.entries).toHaveLength(4002);
    execFileSync('rm', ['-r', path.join(place.work, long)]);
    const { changes } = await place.json(['checkpoints', 'diff', id]);
    expect(changes).toHaveLength(4002);
    const restored = await place.json(['checkpoints', 'restore', id, '--yes']);
    expect(restored.changes_reverted).toHaveLength(4002);
  });

  test('PD-13: forty repositories below the root cost what changed; one can be left out', async () => {
    const place = sandbox();
    const git = createGit(place.environment);
    for (let n = 0; n < 40; n += 1) {
      writeFiles(place.workspace, { [`r${n}/a`]: `${n}`, [`r${n}/.gitignore`]: '*.o\n', [`r${n}/x.o`]: 'o' });
      await git.run({ args: ['init', '-q', '--template='], cwd: path.join(place.workspace, `r${n}`) });
    }
    execFileSync('find', [
      place.workspace,
      '-exec',
      'touch',
      '-h',
      '-d',
      new Date(Date.now() - 60_000).toISOString(),
      '{}',
      '+',
    ]);
    await new Promise((resolve) => setTimeout(resolve, 60));
    const { workspace } = await openSandbox(place);
    await take(workspace, { engine });
    const repositories = () =>
      Array.from({ length: 40 }, (_, n) => treeListing(path.join(place.workspace, `r${n}/.git`)));
    const before = repositories();
    writeFiles(place.workspace, { 'r7/a': 'changed' });
    const { stats, checkpoint } = await workspace.createCheckpoint({ engine });
    expect(stats).toMatchObject({ filesRead: 1, filesReused: 79 });
    expect(checkpoint?.coverage.counts.ignored).toBe(40);
    expect(repositories()).toEqual(before);
    writeFiles(place.workspace, { 'waymark.toml': '[scope]\nexclude = ["/r7/"]\n' });
    const without = await workspace.createCheckpoint({ engine });
    const { entries } = await workspace.showCheckpoint(without.checkpoint?.id ?? '');
    expect(entries.filter(([name, node]) => name.startsWith('r7/') && node.kind !== 'observed')).toEqual([]);
    writeFiles(place.workspace, { 'r7/a': 'again', 'r8/a': 'again' });
    await goBack(workspace, without.checkpoint?.id ?? '');
    expect([readText(place.workspace, 'r7/a'), readText(place.workspace, 'r8/a')]).toEqual(['again', '8']);
  });

  test('PD-05: many thousand ignored files cost no reading, and are counted', async () => {
    const place = sandbox();
    writeFiles(place.workspace, { '.gitignore': 'cache/\n*.tmp\n', a: 'v1' });
    execFileSync(
      'sh',
      [
        '-c',
        'mkdir -p cache many; cd cache; seq 1 5000 | xargs touch; cd ../many; seq -f %g.tmp 1 5000 | xargs touch',
      ],
      { cwd: place.workspace },
    );
    const { workspace } = await openSandbox(place);
    const { checkpoint, stats } = await workspace.createCheckpoint({ engine });
    expect(stats.filesRead).toBe(2);
    expect(checkpoint?.coverage).toMatchObject({ status: 'complete', counts: { ignored: 5001 } });
    expect(checkpoint?.coverage.skipped).toHaveLength(100);
    writeFiles(place.workspace, { a: 'v2', 'many/new': 'n' });
    await goBack(workspace, checkpoint?.id ?? '');
    expect(readdirSync(path.join(place.workspace, 'many'))).toHaveLength(5000);
    expect(readdirSync(path.join(place.workspace, 'cache'))).toHaveLength(5000);
  });
});

describe('places that are no workspace', () => {
  test('PD-03: /, the home directory, what lies above it and the temporary directory are refused, with the reason', async () => {
    const place = cliSandbox();
    const tmp = path.join(place.base, 'tmp');
    mkdirSync(tmp);
    const home = path.join(place.base, 'home');
    for (const [directory, reason] of [
      ['/', 'root of the file system'],
      [home, 'home directory'],
      [place.base, 'above the home directory'],
      [tmp, 'temporary directory'],
      [place.home, 'WAYMARK_HOME'],
      [path.join(place.home, 'checkpoints'), 'WAYMARK_HOME'],
    ] as const) {
      mkdirSync(directory, { recursive: true });
      const { status, stderr, stdout } = await place.run(['checkpoints', 'create'], {
        cwd: directory,
        env: { TMPDIR: tmp },
      });
      expect({ status, stdout }, directory).toEqual({ status: 4, stdout: '' });
      expect(stderr).toContain(reason);
      expect(stderr.trim().split('\n').length).toBeLessThanOrEqual(2);
    }
    writeFileSync(path.join(tmp, 'a'), 'a');
    await place.ok(['checkpoints', 'create', '--allow-root'], { cwd: tmp, env: { TMPDIR: tmp } });
    const inside = await place.run(['checkpoints', 'create', '--allow-root'], { cwd: place.home });
    expect(inside.status).toBe(4);
    mkdirSync(path.join(home, 'project'));
    await place.ok(['checkpoints', 'create'], { cwd: path.join(home, 'project') });
  });

  test('PD-03: too many files and too many bytes are known before anything is read', async () => {
    const place = cliSandbox();
    for (let n = 0; n < 30; n += 1) place.write(`f${n}`, noise(20_000, n));
    const files = await place.json(['checkpoints', 'create'], { env: { WAYMARK_LIMITS_MAX_FILES: '20' } });
    expect(files).toMatchObject({ checkpoint: null, skipped: 'too_many_files', stats: { files_read: 0 } });
    const bytes = await place.json(['checkpoints', 'create', '--session', 'b'], {
      env: { WAYMARK_LIMITS_MAX_TOTAL_BYTES: '100KB' },
      status: 5,
    });
    expect(bytes.stats.files_read).toBe(5);
    expect(bytes.checkpoint.coverage.skipped).toHaveLength(25);
    place.write('f0', 'changed');
    await place.run(['checkpoints', 'restore', bytes.checkpoint.checkpoint_id, '--yes']);
    expect(readdirSync(place.work)).toHaveLength(30);
    expect(readFileSync(path.join(place.work, 'f29')).equals(noise(20_000, 29))).toBe(true);
  });
});

function shadowOf({ home }: Sandbox): string {
  const projects = path.join(home, 'projects');
  const [project = ''] = readdirSync(projects);
  const [dir = ''] = readdirSync(path.join(projects, project, 'checkpoints'));
  return path.join(projects, project, 'checkpoints', dir);
}
