import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cliSandbox } from '../support/cli-sandbox.ts';
import { readText, writeFiles } from '../support/files.ts';
import { NOBODY, waymarkAsNobody } from '../support/program-for-others.ts';
import { openSandbox, type Sandbox, sandbox } from '../support/sandbox.ts';
import { goBack, take } from '../support/take.ts';
import { treeListing } from '../support/tree-listing.ts';

const engines = ['cas', 'git'] as const;
const at = (place: Sandbox, name: string) => path.join(place.workspace, name);
const modeOf = (place: Sandbox, name: string) => (lstatSync(at(place, name)).mode & 0o7777).toString(8);

describe.each(engines)('modes, times and special files, engine %s', (engine) => {
  test.each([0o000, 0o022, 0o077])('PM-04: every mode bit comes back under umask %o', async (umask) => {
    const before = process.umask(umask);
    onTestFinished(() => void process.umask(before));
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    const files = {
      'run.sh': 0o755,
      key: 0o600,
      ro: 0o444,
      wo: 0o222,
      none: 0o000,
      all: 0o777,
      suid: 0o4755,
      sgid: 0o2755,
      sticky: 0o1644,
    };
    const directories = { d: 0o700, sg: 0o2775, tmp: 0o1777, open: 0o777, closed: 0o555 };
    for (const [name, mode] of Object.entries(files)) {
      writeFiles(place.workspace, { [name]: name, [`d/${name}`]: name });
      chmodSync(at(place, name), mode);
      chmodSync(at(place, `d/${name}`), mode);
    }
    for (const [name, mode] of Object.entries(directories)) {
      mkdirSync(at(place, name), { recursive: true });
      chmodSync(at(place, name), mode);
    }
    symlinkSync('key', at(place, 'link'));
    const then = treeListing(place.workspace);
    const id = await take(workspace, { engine });
    for (const name of Object.keys(files)) {
      chmodSync(at(place, name), 0o640);
      rmSync(at(place, `d/${name}`));
    }
    for (const name of Object.keys(directories)) chmodSync(at(place, name), 0o711);
    rmSync(at(place, 'sg'), { recursive: true });
    writeFiles(place.workspace, { key: 'edited', 'run.sh': 'edited', suid: 'edited' });
    const now = treeListing(place.workspace);
    const { changes } = await workspace.diff({ from: id });
    expect(changes).toContainEqual(expect.objectContaining({ path: 'ro', action: 'mode' }));
    const result = await goBack(workspace, id);
    expect(treeListing(place.workspace)).toEqual(then);
    expect(result.changes).toContainEqual({ path: 'all', action: 'mode' });
    await workspace.undo({ confirm: 'always' });
    expect(treeListing(place.workspace)).toEqual(now);
    await goBack(workspace, id, ['key', 'tmp']);
    expect([modeOf(place, 'key'), modeOf(place, 'tmp'), modeOf(place, 'ro')]).toEqual(['600', '1777', '640']);
  });

  test.runIf(process.getuid?.() === 0)(
    'PM-04: set-user-ID does not come back where another user can have put the file',
    async () => {
      const place = sandbox();
      const { workspace } = await openSandbox(place);
      writeFiles(place.workspace, { 'theirs/tool': 'tool', tool: 'tool' });
      chownSync(at(place, 'theirs'), NOBODY, NOBODY);
      for (const name of ['theirs/tool', 'tool']) chmodSync(at(place, name), 0o4755);
      const id = await take(workspace, { engine });
      for (const name of ['theirs/tool', 'tool']) rmSync(at(place, name));
      const result = await workspace.restore({ checkpoint: id, confirm: 'always' });
      expect([modeOf(place, 'theirs/tool'), modeOf(place, 'tool')]).toEqual(['755', '4755']);
      expect(result.skipped).toEqual([
        expect.objectContaining({
          path: 'theirs/tool',
          reason: 'blocked',
          detail: expect.stringMatching(/0755.*4755/),
        }),
      ]);
      const into = path.join(place.directory, 'copy');
      await workspace.restore({ checkpoint: id, into, confirm: 'always' });
      const copied = (name: string) => (lstatSync(path.join(into, name)).mode & 0o7777).toString(8);
      expect([copied('theirs/tool'), copied('tool')]).toEqual(['755', '4755']);
    },
  );

  test('PM-04: a change of mode alone is a change, and restoring it keeps inode and times', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { a: 'a', b: 'b' });
    const first = await take(workspace, { engine });
    await setTimeout(40);
    chmodSync(at(place, 'a'), 0o700);
    const second = await take(workspace, { engine });
    const { changes } = await workspace.diff({ from: first, to: second });
    expect(changes.map(({ path: name, action }) => [name, action])).toEqual([['a', 'mode']]);
    const { ino, mtimeMs } = statSync(at(place, 'a'));
    await goBack(workspace, first);
    expect(modeOf(place, 'a')).toBe('644');
    expect(statSync(at(place, 'a'))).toMatchObject({ ino, mtimeMs });
  });

  test('PM-07: a directory without write permission is restored and is without it again', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { 'ro/x': 'v1', 'ro/sub/deep': 'v1' });
    chmodSync(at(place, 'ro/x'), 0o444);
    chmodSync(at(place, 'ro/sub'), 0o500);
    chmodSync(at(place, 'ro'), 0o555);
    const then = treeListing(place.workspace);
    const id = await take(workspace, { engine });
    for (const name of ['ro', 'ro/sub', 'ro/x']) chmodSync(at(place, name), 0o755);
    writeFiles(place.workspace, { 'ro/x': 'v2', 'ro/y': 'new', 'ro/sub/deep': 'v2' });
    const result = await goBack(workspace, id);
    expect(treeListing(place.workspace)).toEqual(then);
    expect(result.skipped).toEqual([]);
  });

  test('PM-09: FIFOs, sockets and devices are named, never opened, and stay', {
    timeout: 20_000,
  }, async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { a: 'v1', 'd/b': 'v1' });
    execFileSync('mkfifo', [at(place, 'pipe'), at(place, 'd/pipe')]);
    const server = createServer().listen(at(place, 'sock'));
    onTestFinished(() => void server.close());
    try {
      execFileSync('mknod', [at(place, 'null'), 'c', '1', '3'], { stdio: 'ignore' });
    } catch {
      // needs a privilege
    }
    const { checkpoint } = await workspace.createCheckpoint({ engine });
    expect(checkpoint?.coverage.status).toBe('complete');
    expect(checkpoint?.coverage.skipped).toEqual(
      expect.arrayContaining(
        ['pipe', 'd/pipe', 'sock'].map((name) => expect.objectContaining({ path: name, reason: 'special' })),
      ),
    );
    writeFiles(place.workspace, { a: 'v2', 'd/b': 'v2' });
    execFileSync('mkfifo', [at(place, 'later')]);
    await goBack(workspace, checkpoint?.id ?? '');
    expect(readText(place.workspace, 'a') + readText(place.workspace, 'd/b')).toBe('v1v1');
    for (const name of ['pipe', 'd/pipe', 'later'])
      expect(lstatSync(at(place, name)).isFIFO(), name).toBe(true);
    expect(lstatSync(at(place, 'sock')).isSocket()).toBe(true);
    rmSync(at(place, 'pipe'));
    rmSync(at(place, 'd'), { recursive: true });
    const again = await goBack(workspace, checkpoint?.id ?? '');
    expect(readText(place.workspace, 'd/b')).toBe('v1');
    expect(again.changes.map((change) => change.path)).toEqual(['d', 'd/b']);
  });

  test('PM-14: what changed gets the present time, what did not is not touched, so make builds the right things', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, {
      Makefile: 'all: a.o b.o\n%.o: %.c\n\tcp $< $@\n',
      '.gitignore': '*.o\n',
      'a.c': 'v1',
      'b.c': 'v1',
    });
    const make = (...args: readonly string[]) =>
      execFileSync('make', ['-s', ...args], { cwd: place.workspace });
    make();
    const hourAgo = new Date(Date.now() - 3_600_000);
    for (const name of ['a.c', 'b.c']) utimesSync(at(place, name), hourAgo, hourAgo);
    make('-q');
    const id = await take(workspace, { engine });
    writeFiles(place.workspace, { 'a.c': 'v2' });
    make();
    expect(readText(place.workspace, 'a.o')).toBe('v2');
    const untouched = statSync(at(place, 'b.c'));
    await setTimeout(30);
    await goBack(workspace, id);
    expect(() => make('-q')).toThrow();
    make();
    expect(readText(place.workspace, 'a.o')).toBe('v1');
    expect(statSync(at(place, 'b.c'))).toMatchObject({
      ino: untouched.ino,
      mtimeMs: untouched.mtimeMs,
      ctimeMs: untouched.ctimeMs,
    });
    writeFiles(place.workspace, { 'a.c': 'v3' });
    await goBack(workspace, id, [], { preserveMtime: true });
    expect(statSync(at(place, 'a.c')).mtimeMs).toBe(hourAgo.getTime());
  });

  test('PM-06: a path that cannot be changed is reported, and the others are restored', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { a: 'v1', stuck: 'v1', 'd/b': 'v1', 'held/c': 'v1' });
    const id = await take(workspace, { engine });
    writeFiles(place.workspace, { a: 'v2', stuck: 'v2', 'd/b': 'v2', 'held/new': 'v2' });
    const immutable = (flag: string) =>
      execFileSync('chattr', [flag, at(place, 'stuck'), at(place, 'held')], { stdio: 'ignore' });
    try {
      immutable('+i');
    } catch {
      return; // no such attribute on this file system, or no right to set it
    }
    onTestFinished(() => void immutable('-i'));
    const result = await goBack(workspace, id);
    expect(readText(place.workspace, 'a') + readText(place.workspace, 'd/b')).toBe('v1v1');
    expect(readText(place.workspace, 'stuck')).toBe('v2');
    expect(result.changes.map((change) => change.path)).toEqual(['a', 'd/b']);
    expect(result.skipped.map((skip) => skip.path)).toEqual(['held/new', 'stuck']);
    for (const { detail } of result.skipped) expect(detail).toMatch(/permi/i);
  });

  test('IC-07: a sparse file comes back byte for byte', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    const fd = openSync(at(place, 'sparse'), 'w');
    ftruncateSync(fd, 6 * 1024 ** 2);
    writeSync(fd, 'middle', 3 * 1024 ** 2);
    closeSync(fd);
    const then = treeListing(place.workspace);
    const id = await take(workspace, { engine });
    writeFiles(place.workspace, { sparse: 'short' });
    await goBack(workspace, id);
    expect(treeListing(place.workspace)).toEqual(then);
  });

  test('IC-08: a file that grows while it is captured is held as it was at one moment, or not at all', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { 'log.txt': 'x\n'.repeat(500_000), still: 'v1' });
    const script = `const f=require('fs').openSync(process.argv[1],'a');let n=0;setInterval(()=>{for(let i=0;i<20;i++)require('fs').writeSync(f,'line '+(n++)+'\\n')},0)`;
    const writer = spawn(process.execPath, ['-e', script, at(place, 'log.txt')]);
    onTestFinished(() => void writer.kill());
    await setTimeout(300);
    const results = [];
    for (let n = 0; n < 3; n += 1)
      results.push(await workspace.createCheckpoint({ engine, reason: `r${n}` }));
    writer.kill();
    await setTimeout(100);
    const final = readFileSync(at(place, 'log.txt'));
    for (const { checkpoint } of results) {
      const { entries } = await workspace.showCheckpoint(checkpoint?.id ?? '');
      const node = new Map<string, unknown>(entries).get('log.txt') as {
        kind: string;
        reason?: string;
        size: number;
      };
      if (node.kind === 'observed') expect(node.reason).toBe('unstable');
      else {
        const held = Buffer.concat(await Array.fromAsync(workspace.cat(checkpoint?.id ?? '', 'log.txt')));
        expect(held.length).toBe(node.size);
        expect(final.subarray(0, held.length).equals(held)).toBe(true);
      }
    }
    await goBack(workspace, results[0]?.checkpoint?.id ?? '');
    expect(readText(place.workspace, 'still')).toBe('v1');
  });
});

describe('without privileges', () => {
  test('PM-06, PM-07: another user’s file and a read-only directory, as an ordinary user', async () => {
    const place = cliSandbox();
    place.write('own', 'v1');
    place.write('ro/x', 'v1', 0o444);
    place.write('theirs/f', 'v1');
    chmodSync(path.join(place.work, 'ro'), 0o555);
    chmodSync(place.base, 0o755);
    const give = (to: number, ...names: readonly string[]) =>
      execFileSync('chown', ['-R', `${to}:${to}`, ...names.map((name) => path.join(place.work, name))]);
    give(NOBODY, '..');
    const run = waymarkAsNobody(place.work, place.env);
    const id = (await run('checkpoints', 'create')).stdout.trim();
    place.write('own', 'v2');
    chmodSync(path.join(place.work, 'ro'), 0o755);
    chmodSync(path.join(place.work, 'ro/x'), 0o644);
    writeFileSync(path.join(place.work, 'ro/x'), 'v2');
    writeFileSync(path.join(place.work, 'ro/y'), 'new');
    give(NOBODY, 'ro/y', 'own');
    writeFileSync(path.join(place.work, 'theirs/f'), 'v2');
    give(0, 'theirs');
    chmodSync(path.join(place.work, 'ro'), 0o555);
    const restored = await run('checkpoints', 'restore', id, '--yes', '--format', 'json');
    expect(restored.status).toBe(5);
    const { changes_reverted, skipped } = JSON.parse(restored.stdout);
    expect(changes_reverted).toEqual(['own', 'ro/x', 'ro/y']);
    expect(skipped).toEqual([expect.objectContaining({ path: 'theirs/f' })]);
    expect(place.read('own') + place.read('ro/x') + place.read('theirs/f')).toBe('v1v1v2');
    expect(existsSync(path.join(place.work, 'ro/y'))).toBe(false);
    expect(statSync(path.join(place.work, 'ro')).mode & 0o777).toBe(0o555);
    expect(statSync(path.join(place.work, 'ro/x')).mode & 0o777).toBe(0o444);
  });
});
