import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { placeAt } from '../../../test/support/shadow-place.ts';

const SCRIPT = join(import.meta.dirname, '../../../test/support/shadow-capturer.ts');

function freshDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-shadow-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function start(
  directory: string,
  count: number,
  step?: number,
): { readonly child: ChildProcess; readonly output: Promise<string> } {
  const args = [SCRIPT, directory, String(count), ...(step === undefined ? [] : [String(step)])];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  return { child, output: text(child.stdout) };
}

/** What must hold whenever a process died: what is listed is whole, and the store works on. */
async function expectSound(directory: string, published: number, dropped: number): Promise<void> {
  const place = placeAt(directory);
  try {
    const { manifests, problems } = await place.store.manifests();
    expect(problems).toEqual([]);
    expect(manifests.length).toBeGreaterThanOrEqual(published - dropped);
    expect(await place.store.verify(manifests.map(({ record }) => record))).toEqual([]);
    const { record, where } = await place.capture({ after: 'the crash' });
    for (const { record: old, ...rest } of manifests) {
      await place.store.retract({
        id: old.id,
        sessionId: old.sessionId,
        seq: old.seq,
        sandboxRef: rest.sandboxRef,
      });
    }
    const report = await place.store.collect({ minAgeMs: 0, thorough: true, dryRun: false });
    expect(report.blockedBy).toEqual([]);
    expect((await place.store.manifests()).manifests.map(({ record: each }) => each.id)).toEqual([where.id]);
    expect(await place.store.verify([record])).toEqual([]);
    expect(await place.plain('fsck', '--strict', '--no-dangling')).toBe('');
  } finally {
    await place.close();
  }
}

test('killed before any step, the store is consistent and works on', async () => {
  const { output } = start(freshDirectory(), 2, 1_000_000);
  const steps = Number(/steps (\d+)/.exec(await output)?.[1]);
  expect(steps).toBeGreaterThan(40);
  // every twelfth, from another start each time, so that a few runs see them all
  const first = 1 + Math.floor(Math.random() * 12);
  for (let step = first; step <= steps; step += 12) {
    const directory = freshDirectory();
    const run = start(directory, 2, step);
    const published = (await run.output).match(/done/g)?.length ?? 0;
    await expectSound(directory, published, 1);
    rmSync(directory, { recursive: true });
  }
}, 120_000);

test('killed with its git at any moment, the store is consistent and works on', async () => {
  for (let round = 0; round < 5; round += 1) {
    const directory = freshDirectory();
    const { child, output } = start(directory, 1000);
    await once(child.stdout as NodeJS.ReadableStream, 'data');
    await sleep(50 + Math.random() * 300);
    process.kill(-(child.pid as number), 'SIGKILL');
    const published = (await output).match(/done/g)?.length ?? 0;
    await expectSound(directory, published, 0);
  }
}, 120_000);

test('CL-01: eight processes take eight checkpoints each of one workspace', async () => {
  const directory = freshDirectory();
  const runs = Array.from({ length: 8 }, () => start(directory, 8));
  for (const { output } of runs) expect((await output).match(/done/g)).toHaveLength(8);
  const place = placeAt(directory);
  const { manifests, problems } = await place.store.manifests();
  expect(problems).toEqual([]);
  expect(new Set(manifests.map(({ sandboxRef }) => sandboxRef)).size).toBe(64);
  expect(await place.store.verify(manifests.map(({ record }) => record))).toEqual([]);
  const table = await place.plain('for-each-ref', '--format=%(refname:short)', 'refs/heads');
  expect(table.split('\n')).toHaveLength(65);
  await place.close();
}, 120_000);
