import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Checkpoint } from '../../src/domain/checkpoint.ts';
import type { CheckpointId, DirHash, RunId } from '../../src/domain/ids.ts';
import type { WorkspaceIdentity } from '../../src/domain/workspace.ts';
import { openHome } from '../../src/open-home.ts';
import type { StepHook } from '../../src/platform/file-system.ts';
import { writeFiles } from '../support/files.ts';
import { openSandbox, type Sandbox, sandbox } from '../support/sandbox.ts';
import { take } from '../support/take.ts';

/*
 * Something is chosen, then waited for, then done: what happened to it meanwhile counts.
 */

/** The same for what only has to wait for a collection. */
const whileCollecting: typeof whileWaiting = (place, act, meanwhile) =>
  whileWaiting(place, act, meanwhile, 'exclusive');

/** Starts `act`, which waits for the store, and does `meanwhile` before it gets it. */
async function whileWaiting<T>(
  place: Sandbox,
  act: () => Promise<T>,
  meanwhile: () => Promise<unknown>,
  mode: 'shared' | 'exclusive' = 'shared',
): Promise<T> {
  await using home = await openHome(place.options);
  const identity = home.catalog.workspaces()[0] as WorkspaceIdentity;
  const hold = await home.store('cas', identity).hold(mode, 1000);
  const acting = act();
  await meanwhile();
  await hold[Symbol.asyncDispose]();
  return await acting;
}

async function fiveCheckpoints(place: Sandbox) {
  const environment = { ...place.environment, WAYMARK_RETENTION_KEEP: '10' };
  const { workspace } = await openSandbox(place, { environment });
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    writeFiles(place.workspace, { a: `version ${n}` });
    ids.push(await take(workspace));
  }
  writeFiles(place.workspace, { 'waymark.toml': '[retention]\nkeep = 2\n' });
  return ids;
}

test('prune: what is pinned while it waits stays', async () => {
  const place = sandbox();
  const ids = await fiveCheckpoints(place);
  const { workspace } = await openSandbox(place);
  const [pinned = ''] = ids;
  const report = await whileWaiting(
    place,
    () => workspace.prune(),
    () => workspace.pin(pinned, true),
  );
  expect(report.dropped.map(({ checkpoint }) => checkpoint.id)).toEqual(ids.slice(1, 3));
  expect((await workspace.listCheckpoints()).map(({ id }) => id)).toEqual([ids[4], ids[3], pinned]);
  expect((await workspace.verify()).problems).toEqual([]);
  await workspace.restore({ checkpoint: pinned, into: `${place.directory}/restored` });
  expect(readFileSync(`${place.directory}/restored/a`, 'utf8')).toBe('version 0');
});

test('purge: what was captured while the person decided is purged, too', async () => {
  const place = sandbox();
  writeFiles(place.workspace, { token: 'secret one', a: 'a' });
  const { workspace } = await openSandbox(place);
  await take(workspace);
  const report = await workspace.purge('token', async () => {
    writeFiles(place.workspace, { token: 'secret two' });
    await take(workspace);
    return true;
  });
  expect(report.checkpoints).toBe(2);
  for (const { id } of await workspace.listCheckpoints()) {
    const { entries } = await workspace.showCheckpoint(id);
    expect(entries.flatMap(([path, { kind }]) => (path === 'token' ? [kind] : []))).toEqual(['observed']);
  }
  expect((await workspace.verify()).problems).toEqual([]);
});

test('restore and capture: another directory that took the workspace’s place while they waited is left alone', async () => {
  const place = sandbox();
  writeFiles(place.workspace, { mine: 'v1' });
  const { workspace } = await openSandbox(place);
  const id = await take(workspace);
  writeFiles(place.workspace, { mine: 'v2' });
  renameSync(place.workspace, `${place.directory}/moved`);
  mkdirSync(place.workspace);
  writeFiles(place.workspace, { theirs: 'another project' });
  const code = 'WORKSPACE_MISMATCH';
  await expect(workspace.restore({ checkpoint: id, confirm: 'always' })).rejects.toMatchObject({ code });
  await expect(take(workspace)).rejects.toMatchObject({ code });
  expect(readdirSync(place.workspace)).toEqual(['theirs']);
});

test('deleting: the target of a restore that begins meanwhile stays, or the restore does nothing', async () => {
  const place = sandbox();
  const { workspace } = await openSandbox(place);
  writeFiles(place.workspace, { a: 'v1' });
  const id = await take(workspace);
  const deletions: Promise<unknown>[] = [];
  const others = (await openSandbox(place)).workspace;
  const deleteMeanwhile: StepHook = (call, target) => {
    if (call === 'commit' && target === 'open operation') {
      deletions.push(others.deleteCheckpoint(id, { force: true }).catch((error: unknown) => error));
    }
  };
  const { workspace: restoring } = await openSandbox(place, { stepHook: deleteMeanwhile });
  writeFiles(place.workspace, { a: 'v2' });
  const restored = await restoring
    .restore({ checkpoint: id, confirm: 'always' })
    .catch((error: unknown) => error);
  await Promise.all(deletions);
  expect(deletions.length).toBe(1);
  const now = readFileSync(`${place.workspace}/a`, 'utf8');
  const isFailed = restored instanceof Error;
  expect([now, isFailed]).toEqual(isFailed ? ['v2', true] : ['v1', false]);
  expect((await workspace.verify()).problems).toEqual([]);
});

test('sweep: the claim of a run that goes on again stays', async () => {
  const place = sandbox();
  await using home = await openHome(place.options);
  const claim = {
    id: 'exec-1' as RunId,
    kind: 'run' as const,
    dirHash: '0123456789abcdef' as DirHash,
    path: place.workspace,
  };
  const rest = { sessionId: null, operationId: null, label: 'x', runStart: null };
  const dead = { ...claim, ...rest, pid: 1, since: '2026-12-01T00:00:00.000Z' };
  const live = { ...claim, ...rest, pid: 2, since: '2026-12-01T00:00:01.000Z' };
  home.catalog.saveOpenRun(dead);
  home.catalog.saveOpenRun(live);
  home.catalog.removeOpenRun(dead);
  expect(home.catalog.openRuns()).toEqual([live]);
});

test('capture: a restore of a workspace inside is waited for', async () => {
  const place = sandbox();
  const inside = `${place.workspace}/in`;
  mkdirSync(inside);
  writeFiles(inside, { f: 'v1', g: 'v1' });
  const { waymark } = await openSandbox(place);
  const inner = await waymark.openWorkspace(inside);
  const id = await take(inner);
  writeFiles(inside, { f: 'v2', g: 'v2' });
  const captures: Promise<string>[] = [];
  const outer = (await openSandbox(place)).workspace;
  // The restore has moved the first file away.
  const stepHook: StepHook = (call, target) => {
    if (captures.length === 0 && call === 'rename' && target.includes('.waymark-restore-'))
      captures.push(take(outer));
  };
  const restoring = await (await openSandbox(place, { stepHook })).waymark.openWorkspace(inside);
  await restoring.restore({ checkpoint: id, confirm: 'always' });
  const [captured = ''] = await Promise.all(captures);
  const { entries } = await outer.showCheckpoint(captured);
  expect(entries.map(([path]) => path)).toEqual(['in', 'in/f', 'in/g']);
});

test('deleting: one that is pinned while the deletion waits stays, and that is said', async () => {
  const place = sandbox();
  const [first = ''] = await fiveCheckpoints(place);
  const { workspace } = await openSandbox(place);
  const { workspace: other } = await openSandbox(place);
  await using home = await openHome(place.options);
  const hold = await home
    .store('cas', home.catalog.workspaces()[0] as WorkspaceIdentity)
    .hold('exclusive', 1000);
  const deletion = workspace.deleteCheckpoint(first).catch((error: unknown) => error);
  home.catalog.setPinned(first as Parameters<typeof home.catalog.setPinned>[0], true);
  await hold[Symbol.asyncDispose]();
  expect(await deletion).toMatchObject({
    code: 'CHECKPOINT_IN_USE',
    message: `Checkpoint ${first} is pinned`,
  });
  expect(await other.listCheckpoints()).toHaveLength(5);
});

test('verify, log: what is dropped while they wait for the store is left out', async () => {
  const place = sandbox();
  const ids = await fiveCheckpoints(place);
  const { workspace } = await openSandbox(place);
  const drop = (at: number) => async () => {
    await using home = await openHome(place.options);
    const row = home.catalog.checkpoint(ids[at] as CheckpointId) as Checkpoint;
    home.catalog.markDeleting([row.id]);
    await home.store('cas', row.workspace).retract(row);
    home.catalog.removeCheckpoint(row.id);
  };
  const verified = await whileCollecting(place, () => workspace.verify(), drop(1));
  expect(verified).toEqual({ checked: 4, problems: [] });
  const versions = await whileCollecting(place, () => workspace.log('a'), drop(2));
  expect(versions.map(({ checkpoint }) => checkpoint.id)).toEqual([ids[4], ids[3], ids[0]]);
  const shown = whileCollecting(place, () => workspace.showCheckpoint(ids[3] ?? ''), drop(3));
  await expect(shown).rejects.toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' });
  expect((await workspace.listCheckpoints()).map(({ restorable }) => restorable)).toEqual([true, true]);
});

test('purge: a run that goes on knows in the end what it changed, and its start is whole', async () => {
  const place = sandbox();
  writeFiles(place.workspace, { token: 'secret', a: 'before' });
  const { workspace } = await openSandbox(place);
  const { workspace: other } = await openSandbox(place);
  const result = await workspace.run({ label: 'agent' }, async () => {
    writeFiles(place.workspace, { a: 'after' });
    rmSync(`${place.workspace}/token`);
    await other.purge('token', () => true);
  });
  expect(result.changesKnown).toBe(true);
  expect(result.changes.map(({ path }) => path)).toEqual(['a']);
  expect((await other.listCheckpoints()).every(({ restorable }) => restorable)).toBe(true);
  await other.undo({ confirm: 'always' });
  expect(readFileSync(`${place.workspace}/a`, 'utf8')).toBe('before');
});

test('purge: what waits for the store reads what the purge made of it', async () => {
  const place = sandbox();
  writeFiles(place.workspace, { token: 'secret', a: 'a' });
  const { workspace } = await openSandbox(place);
  const { workspace: other } = await openSandbox(place);
  const id = await take(workspace);
  writeFiles(place.workspace, { a: 'b' });
  const restored = workspace.restore({
    checkpoint: id,
    confirm: async () => {
      await other.purge('token', () => true);
      return true;
    },
  });
  await expect(restored).rejects.toMatchObject({ code: 'PLAN_STALE' });
  expect((await other.findCheckpoint(id)).restorable).toBe(true);
  await workspace.restore({ checkpoint: id, confirm: 'always' });
  expect(readFileSync(`${place.workspace}/a`, 'utf8')).toBe('a');
});

test.each(['cas', 'git'] as const)(
  'store remove, engine %s: refused where a run began while the person decided',
  async (engine) => {
    const place = sandbox();
    writeFiles(place.workspace, { a: 'before' });
    const { workspace } = await openSandbox(place);
    const { workspace: other } = await openSandbox(place);
    await take(workspace, { engine });
    const done = Promise.withResolvers<void>();
    let run: Promise<unknown> | undefined;
    const confirm = async () => {
      const begun = Promise.withResolvers<void>();
      run = other.run({ engine, requireCheckpoint: true }, async () => {
        begun.resolve();
        await done.promise;
        writeFiles(place.workspace, { a: 'after' });
      });
      await begun.promise;
      return true;
    };
    await expect(workspace.removeStore({ engine, confirm })).rejects.toMatchObject({ code: 'RUN_ACTIVE' });
    done.resolve();
    await run;
    await other.undo({ confirm: 'always' });
    expect(readFileSync(`${place.workspace}/a`, 'utf8')).toBe('before');
    const held = (await workspace.listCheckpoints()).filter((each) => each.engine === engine);
    const removed = await workspace.removeStore({ engine, confirm: () => true });
    expect(removed.checkpoints).toBe(held.length);
  },
);

describe('prune --orphans', () => {
  /** The sandbox's workspace with checkpoints, and two others, `away` of which is missing. */
  async function threeWorkspaces() {
    const place = sandbox();
    const { waymark, workspace } = await openSandbox(place);
    for (const name of ['workspace', 'there', 'away']) {
      writeFiles(place.directory, { [`${name}/a`]: name });
      await take(await waymark.openWorkspace(`${place.directory}/${name}`), { session: name });
    }
    renameSync(`${place.directory}/away`, `${place.directory}/elsewhere`);
    const sessions = async () =>
      (await waymark.listCheckpoints()).map(({ sessionId }) => sessionId as string).sort();
    return { place, workspace, sessions };
  }

  test('only what was shown goes', async () => {
    const { place, workspace, sessions } = await threeWorkspaces();
    const { dropped } = await workspace.prune({
      orphans: true,
      confirm: () => {
        renameSync(`${place.directory}/there`, `${place.directory}/unmounted`);
        return true;
      },
    });
    expect(dropped.map(({ checkpoint }) => checkpoint.sessionId)).toEqual(['away']);
    expect(await sessions()).toEqual(['there', 'workspace']);
  });

  test('what came back while it waited stays', async () => {
    const { place, workspace, sessions } = await threeWorkspaces();
    await using home = await openHome(place.options);
    const store = home.store('cas', home.catalog.workspaces()[0] as WorkspaceIdentity);
    const { dropped } = await workspace.prune({
      orphans: true,
      confirm: async () => {
        const hold = await store.hold('shared', 1000);
        setTimeout(async () => {
          renameSync(`${place.directory}/elsewhere`, `${place.directory}/away`);
          await hold[Symbol.asyncDispose]();
        }, 500);
        return true;
      },
    });
    expect(dropped).toEqual([]);
    expect(await sessions()).toEqual(['away', 'there', 'workspace']);
  });
});
