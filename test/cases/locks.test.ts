import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { BIN, cliSandbox } from '../support/cli-sandbox.ts';
import { readText, writeFiles } from '../support/files.ts';
import { openSandbox, type Sandbox, sandbox } from '../support/sandbox.ts';
import { goBack, take } from '../support/take.ts';
import { treeListing } from '../support/tree-listing.ts';

const engines = ['cas', 'git'] as const;
const HOLDER = path.join(import.meta.dirname, '../support/lock-holder.ts');

/** Another process that holds a lock of the home until it is told to let go. */
async function holdLock(home: string, name: string, mode: 'shared' | 'exclusive'): Promise<ChildProcess> {
  const child = spawn(process.execPath, [HOLDER, path.join(home, 'locks'), name, mode], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [text] = (await once(child.stdout, 'data')) as [Buffer];
  expect(text.toString()).toBe('held\n');
  return child;
}

const treeLock = (directory: string) =>
  `tree-${createHash('sha256').update(directory).digest('hex').slice(0, 16)}`;

describe.each(engines)('locks, engine %s', (engine) => {
  test('CL-09: inside a run restore is allowed, outside it is refused, and a wave refuses both', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { a: 'v1' });
    const id = await take(workspace, { engine });
    await workspace.run({ engine }, async ({ env }) => {
      writeFiles(place.workspace, { a: 'v2' });
      await expect(goBack(workspace, id)).rejects.toMatchObject({ code: 'RUN_ACTIVE' });
      expect(readText(place.workspace, 'a')).toBe('v2');
      const inside = await openSandbox(place, { environment: { ...place.environment, ...env } });
      await goBack(inside.workspace, id);
      expect(readText(place.workspace, 'a')).toBe('v1');
      writeFiles(place.workspace, { a: 'v3' });
    });
    await workspace.wave({ label: 'three' }, async () => {
      await expect(goBack(workspace, id)).rejects.toMatchObject({ code: 'WAVE_ACTIVE' });
      await expect(workspace.createCheckpoint({ engine })).rejects.toMatchObject({ code: 'WAVE_ACTIVE' });
      expect(readText(place.workspace, 'a')).toBe('v3');
    });
    await goBack(workspace, id);
    expect(readText(place.workspace, 'a')).toBe('v1');
  });

  test('CL-09: while a person decides nothing is locked, and a plan that no longer holds is not carried out', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { a: 'v1', b: 'v1' });
    const id = await take(workspace, { engine });
    writeFiles(place.workspace, { a: 'v2' });
    const restoring = workspace.restore({
      checkpoint: id,
      confirm: async () => {
        const other = await openSandbox(place);
        await take(other.workspace, { engine, reason: 'meanwhile' });
        await other.workspace.prune();
        writeFiles(place.workspace, { b: 'v2' });
        return true;
      },
    });
    await expect(restoring).rejects.toMatchObject({ code: 'PLAN_STALE' });
    expect(readText(place.workspace, 'a') + readText(place.workspace, 'b')).toBe('v2v2');
  });
});

describe('the lock of a directory tree', () => {
  test('CL-09: a restore waits for whoever holds the workspace, then refuses and changes nothing', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { a: 'v1' });
    const id = await take(workspace);
    writeFiles(place.workspace, { a: 'v2' });
    const before = treeListing(place.workspace);
    const holder = await holdLock(place.home, treeLock(place.workspace), 'shared');
    await expect(goBack(workspace, id)).rejects.toMatchObject({ code: 'WORKSPACE_BUSY' });
    expect(treeListing(place.workspace)).toEqual(before);
    expect(await workspace.listCheckpoints()).toHaveLength(1);
    const waiting = goBack(workspace, id);
    holder.kill('SIGKILL');
    await waiting;
    expect(readText(place.workspace, 'a')).toBe('v1');
  });

  test('CL-09: a lock on a directory above or below counts, one beside does not', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { 'sub/a': 'v1' });
    mkdirSync(path.join(place.directory, 'beside'));
    const id = await take(workspace);
    writeFiles(place.workspace, { 'sub/a': 'v2' });
    await holdLock(place.home, treeLock(path.join(place.directory, 'beside')), 'exclusive');
    await goBack(workspace, id);
    expect(readText(place.workspace, 'sub/a')).toBe('v1');
    writeFiles(place.workspace, { 'sub/a': 'v2' });
    await holdLock(place.home, treeLock(place.directory), 'exclusive');
    await expect(goBack(workspace, id)).rejects.toMatchObject({ code: 'WORKSPACE_BUSY' });
    expect(readText(place.workspace, 'sub/a')).toBe('v2');
  });
});

describe('locks of the shadow repository', () => {
  test('CL-02: a dead index.lock is removed with a warning that the person sees, a live one stays', async () => {
    const place = cliSandbox();
    place.write('a', 'v1');
    await place.ok(['checkpoints', 'create', '--store', 'git']);
    const lock = path.join(shadowOf(place), 'index.lock');
    writeFileSync(lock, '');
    place.write('a', 'v2');
    const { status, stderr } = await place.run(['checkpoints', 'create', '--store', 'git']);
    expect({ status, removed: !existsSync(lock) }).toEqual({ status: 0, removed: true });
    expect(stderr).toContain('index.lock');

    const holder = spawn('/bin/sh', ['-c', 'exec 9>>"$0"; echo open; read line', lock], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    onTestFinished(() => void holder.kill('SIGKILL'));
    await once(holder.stdout, 'data');
    place.write('a', 'v3');
    const busy = await place.run(['checkpoints', 'create', '--store', 'git', '--format', 'json']);
    expect(busy.status).toBe(4);
    expect(JSON.parse(busy.stdout).error.code).toBe('STORE_BUSY');
    expect(existsSync(lock)).toBe(true);
    expect(await place.json(['checkpoints', 'list'])).toHaveLength(2);
  });

  test('CL-09: a restore from outside a run is refused with status 4', async () => {
    const place = cliSandbox();
    place.write('a', 'v1');
    const id = (await place.ok(['checkpoints', 'create'])).trim();
    place.write('a', 'v2');
    const output = await place.run([
      'exec',
      '--',
      'sh',
      '-c',
      `unset WAYMARK_RUN; ${process.execPath} ${BIN} checkpoints restore ${id} --yes --format json; echo "status $?"`,
    ]);
    expect(output.stdout).toContain('"RUN_ACTIVE"');
    expect(output.stdout).toContain('status 4');
    expect(place.read('a')).toBe('v2');
  });
});

function shadowOf({ home }: Pick<Sandbox, 'home'>): string {
  const projects = path.join(home, 'projects');
  const [project = ''] = readdirSync(projects);
  const [dir = ''] = readdirSync(path.join(projects, project, 'checkpoints'));
  return path.join(projects, project, 'checkpoints', dir);
}
