import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type EngineName, isWaymarkError, type Workspace } from '../../src/index.ts';
import { bundleScript } from '../support/bundle-script.ts';
import { readText, writeFiles } from '../support/files.ts';
import { type RunningScript, runScript } from '../support/run-script.ts';
import { openSandbox, type Sandbox, sandbox } from '../support/sandbox.ts';
import { scaled } from '../support/scale.ts';
import { goBack, take } from '../support/take.ts';
import { treeListing } from '../support/tree-listing.ts';

vi.setConfig({ testTimeout: scaled(300_000, 0) });

const engines = ['cas', 'git'] as const;

let racer: Awaited<ReturnType<typeof bundleScript>>;
beforeAll(async () => {
  racer = await bundleScript(path.join(import.meta.dirname, 'process.ts'));
});
afterAll(() => racer[Symbol.dispose]());

interface Racer {
  readonly role: 'create' | 'write' | 'list' | 'prune' | 'reuse' | 'restore';
  readonly engine?: EngineName;
  readonly keep: number;
  readonly name?: string;
  /** rounds or ms */
  readonly amount: number;
}

function start(place: Sandbox, { role, engine = 'cas', keep, name = role, amount }: Racer): RunningScript {
  const running = runScript(racer.path, role, place.directory, String(keep), engine, name, String(amount));
  onTestFinished(() => void running.process.kill('SIGKILL'));
  return running;
}

/** What a process found, which must have printed no error. */
async function resultOf<T>(script: RunningScript): Promise<readonly T[]> {
  const output = await script.output;
  expect(await script.errors).toBe('');
  return JSON.parse(output) as readonly T[];
}

async function race<T = unknown>(
  place: Sandbox,
  racers: readonly Racer[],
): Promise<readonly (readonly T[])[]> {
  return await Promise.all(racers.map(async (racer) => await resultOf<T>(start(place, racer))));
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

async function requireRestorable(place: Sandbox, workspace: Workspace): Promise<void> {
  expect((await workspace.verify()).problems).toEqual([]);
  for (const { id } of await workspace.listCheckpoints({ everywhere: true })) {
    await workspace.restore({ checkpoint: id, into: `${place.directory}/restored-${id}` });
  }
}

describe('captures beside captures', () => {
  test.each([
    { engine: 'cas', processes: 8, each: 8 },
    { engine: 'git', processes: 4, each: 4 },
  ] as const)(
    'CL-01: $processes processes × $each creates, engine $engine: each is there and whole',
    async (size) => {
      const { engine, processes, each } = size;
      const place = sandbox();
      writeFiles(place.workspace, { 'src/a': 'a', 'src/b': 'b' });
      const taken = await race<{ readonly id: string; readonly seq: number; readonly reason: string }>(
        place,
        numbers(processes).map((n) => ({ role: 'create', engine, keep: 100, name: `p${n}`, amount: each })),
      );
      const { workspace } = await openSandbox(place);
      const listed = await workspace.listCheckpoints();
      expect(listed).toHaveLength(processes * each);
      expect(new Set(listed.map(({ seq }) => seq)).size).toBe(listed.length);
      const said = listed.map(({ id, seq, metadata }) => ({
        id,
        seq,
        reason: metadata.reason,
        warnings: [],
      }));
      const byId = (a: { readonly id: string }, b: { readonly id: string }) => (a.id < b.id ? -1 : 1);
      expect(said.toSorted(byId)).toEqual(taken.flat().toSorted(byId));
      await requireRestorable(place, workspace);
    },
  );
});

describe('captures beside readers and collections', () => {
  test('CL-03 CL-04: four writers, four listers and a pruner at once: not one of them fails', async () => {
    const place = sandbox();
    writeFiles(place.workspace, { 'src/a': 'a' });
    const amount = scaled(3000, 20_000);
    const rounds = await race(place, [
      ...numbers(4).map((n) => ({
        role: 'write' as const,
        engine: n < 3 ? ('cas' as const) : ('git' as const),
        keep: 3,
        name: `writer-${n}`,
        amount,
      })),
      ...numbers(4).map(() => ({ role: 'list' as const, keep: 3, amount })),
      { role: 'prune', keep: 3, amount },
    ]);
    for (const done of rounds) expect(done.length).toBeGreaterThan(0);
    const { workspace } = await openSandbox(place);
    expect((await workspace.listCheckpoints()).length).toBeGreaterThanOrEqual(4);
    await requireRestorable(place, workspace);
  });

  test.each(engines)('CL-06: contents come back while they are collected, engine %s', async (engine) => {
    const place = sandbox();
    const amount = scaled(3000, 20_000);
    const [rounds = []] = await race(place, [
      { role: 'reuse', engine, keep: 2, amount },
      { role: 'prune', keep: 2, amount },
      { role: 'prune', keep: 2, amount },
    ]);
    expect(rounds.length).toBeGreaterThan(0);
    for (const n of numbers(rounds.length)) {
      const restored = `${place.directory}/restored/${n}`;
      expect(readText(restored, 'constant')).toBe('never touched again');
      expect(readText(restored, 'changing')).toBe(`content ${n % 5}`.repeat(200));
      expect(readText(restored, 'large')).toBe(`large ${n % 7}\n`.repeat(20_000));
    }
    const { workspace } = await openSandbox(place);
    await requireRestorable(place, workspace);
  });
});

describe('restores beside somebody who works', () => {
  test.each(engines)(
    'restore() while files are moved and replaced, engine %s: every content is in the workspace or in a checkpoint',
    async (engine) => {
      const place = sandbox();
      const directories = 3;
      for (const d of numbers(directories)) {
        writeFiles(
          place.workspace,
          Object.fromEntries(numbers(8).map((n) => [`d${d}/f${n}`, `then ${d} ${n}`])),
        );
      }
      mkdirSync(`${place.directory}/kept`);
      const environment = { ...place.environment, WAYMARK_RETENTION_KEEP: '10000' };
      const { workspace } = await openSandbox(place, { environment });
      const id = await take(workspace, { engine });
      const script = path.join(import.meta.dirname, 'shuffler.ts');
      const shuffler = runScript(script, place.directory, String(directories));
      onTestFinished(() => void shuffler.process.kill('SIGKILL'));
      await shuffler.line();
      let changed = 0;
      const end = performance.now() + scaled(3000, 20_000);
      while (performance.now() < end) changed += (await goBack(workspace, id)).changes.length;
      shuffler.process.stdin?.end();
      const published = Number(await shuffler.output);

      const found = await storedContents(workspace);
      for (const tree of [`${place.directory}/kept`, place.workspace]) {
        for (const file of readdirSync(tree, { recursive: true, withFileTypes: true })) {
          if (file.isFile()) found.add(readFileSync(path.join(file.parentPath, file.name), 'utf8'));
        }
      }
      const fresh = numbers(published).map((n) => `fresh ${String(n).padStart(8, '0')}`);
      expect(fresh.filter((content) => !found.has(content))).toEqual([]);
      expect({ changed: changed > 0, published: published > 0 }).toEqual({ changed: true, published: true });
      await goBack(workspace, id);
      const then = numbers(directories).flatMap((d) =>
        numbers(8).map((n) => [`d${d}/f${n}`, `then ${d} ${n}`]),
      );
      for (const [file = '', content] of then) expect(readText(place.workspace, file)).toBe(content);
    },
  );

  test('CL-09: while another process restores, restores are refused and nothing changes', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { a: 'v1', b: 'v1' });
    const id = await take(workspace);
    writeFiles(place.workspace, { a: 'v2', b: 'v2', c: 'new' });
    const other = start(place, { role: 'restore', keep: 20, name: id, amount: 0 });
    expect(await other.line()).toBe('inside');
    await expectRefused(place, workspace, id);
    other.process.stdin?.end();
    await other.output;
    expect(treeListing(place.workspace).length).toBe(2);
    expect(readText(place.workspace, 'a') + readText(place.workspace, 'b')).toBe('v1v1');
    writeFiles(place.workspace, { a: 'v3' });
    await goBack(workspace, id);
    expect(readText(place.workspace, 'a')).toBe('v1');
  });

  test('CL-09: while another process holds the workspace, restores are refused and nothing changes', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { a: 'v1' });
    const id = await take(workspace);
    writeFiles(place.workspace, { a: 'v2' });
    const locks = path.join(place.home, 'locks');
    const tree = `tree-${hash('sha256', place.workspace, 'hex').slice(0, 16)}`;
    const script = path.join(import.meta.dirname, '../support/lock-holder.ts');
    const holder = runScript(script, locks, tree, 'exclusive');
    onTestFinished(() => void holder.process.kill('SIGKILL'));
    expect(await holder.line()).toBe('held');
    await expectRefused(place, workspace, id);
    holder.process.stdin?.end();
    await holder.output;
    await goBack(workspace, id);
    expect(readText(place.workspace, 'a')).toBe('v1');
  });
});

async function expectRefused(place: Sandbox, workspace: Workspace, id: string): Promise<void> {
  const before = [
    treeListing(place.workspace),
    await workspace.listCheckpoints(),
    await workspace.operations(),
  ];
  const attempts = await Promise.allSettled([
    goBack(workspace, id),
    goBack(workspace, id, ['a']),
    workspace.restore({ checkpoint: id, dryRun: true }),
  ]);
  const codes = attempts.map((attempt) =>
    attempt.status === 'rejected' && isWaymarkError(attempt.reason) ? attempt.reason.code : attempt,
  );
  expect(codes).toEqual(['WORKSPACE_BUSY', 'WORKSPACE_BUSY', 'WORKSPACE_BUSY']);
  expect([
    treeListing(place.workspace),
    await workspace.listCheckpoints(),
    await workspace.operations(),
  ]).toEqual(before);
}

/** Every distinct content that a checkpoint holds. */
async function storedContents(workspace: Workspace): Promise<Set<string>> {
  const seen = new Set<string>();
  const contents = new Set<string>();
  for (const { id } of await workspace.listCheckpoints()) {
    const { entries, problems } = await workspace.showCheckpoint(id);
    expect(problems).toEqual([]);
    for (const [file, node] of entries) {
      if (node.kind !== 'file' || seen.has(node.hash)) continue;
      seen.add(node.hash);
      contents.add(Buffer.concat(await Array.fromAsync(workspace.cat(id, file))).toString());
    }
  }
  return contents;
}
