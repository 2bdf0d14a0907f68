import { renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createGit } from '../../src/platform/git-process.ts';
import { cliSandbox } from '../support/cli-sandbox.ts';
import { readText, writeFiles } from '../support/files.ts';
import { openSandbox, sandbox } from '../support/sandbox.ts';
import { goBack, take } from '../support/take.ts';
import { treeListing } from '../support/tree-listing.ts';

const engines = ['cas', 'git'] as const;

describe.each(engines)('several roots, engine %s', (engine) => {
  test('PM-13: two roots of the same name keep apart in one session', async () => {
    const place = sandbox();
    writeFiles(place.directory, { 'a/src/f': 'a1', 'b/src/f': 'b1' });
    const { waymark } = await openSandbox(place);
    const [a, b] = await Promise.all(
      ['a', 'b'].map((name) => waymark.openWorkspace(path.join(place.directory, name, 'src'))),
    );
    if (a === undefined || b === undefined) throw new Error('not opened');
    const first = await take(a, { engine, session: 'both' });
    const second = await take(b, { engine, session: 'both' });
    writeFiles(place.directory, { 'a/src/f': 'a2', 'b/src/f': 'b2' });
    await goBack(a, first);
    expect([readText(place.directory, 'a/src/f'), readText(place.directory, 'b/src/f')]).toEqual([
      'a1',
      'b2',
    ]);
    expect((await a.listCheckpoints({ session: 'both' })).map(({ id }) => id)).toContain(first);
    expect((await a.listCheckpoints({ session: 'both' })).map(({ id }) => id)).not.toContain(second);
    await expect(goBack(a, second)).rejects.toMatchObject({ code: 'WORKSPACE_MISMATCH' });
    expect((await waymark.listCheckpoints({ session: 'both' })).map(({ seq }) => seq).sort()).toEqual([
      0, 1, 2,
    ]);
  });

  test('IC-17: of two roots the broken one fails by name, the other is held, and the next try takes both', async () => {
    const place = sandbox();
    writeFiles(place.directory, { 'a/f': 'a1', 'b/f': 'b1' });
    const { waymark } = await openSandbox(place);
    const [a, b] = await Promise.all(
      ['a', 'b'].map((name) => waymark.openWorkspace(path.join(place.directory, name))),
    );
    if (a === undefined || b === undefined) throw new Error('not opened');
    renameSync(path.join(place.directory, 'b'), path.join(place.directory, 'b-away'));
    const results = await Promise.allSettled([a, b].map((root) => take(root, { engine, session: 's' })));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(results[1]).toMatchObject({
      reason: { message: expect.stringContaining(path.join(place.directory, 'b')) },
    });
    expect(await b.listCheckpoints()).toEqual([]);
    renameSync(path.join(place.directory, 'b-away'), path.join(place.directory, 'b'));
    const held = await take(b, { engine, session: 's' });
    writeFiles(place.directory, { 'b/f': 'b2' });
    await goBack(b, held);
    expect(readText(place.directory, 'b/f')).toBe('b1');
  });

  test('PM-13: a workspace inside a workspace: each takes its own back, and what the outer restores the inner sees', async () => {
    const place = sandbox();
    writeFiles(place.workspace, { top: 't1', 'inner/f': 'f1' });
    const { waymark, workspace: outer } = await openSandbox(place);
    const inner = await waymark.openWorkspace(path.join(place.workspace, 'inner'));
    const whole = await take(outer, { engine });
    writeFiles(place.workspace, { 'inner/f': 'f2' });
    const part = await take(inner, { engine });
    writeFiles(place.workspace, { top: 't3', 'inner/f': 'f3', 'inner/new': 'n' });
    await goBack(inner, part);
    expect([readText(place.workspace, 'top'), readText(place.workspace, 'inner/f')]).toEqual(['t3', 'f2']);
    await goBack(outer, whole);
    expect([readText(place.workspace, 'top'), readText(place.workspace, 'inner/f')]).toEqual(['t1', 'f1']);
    expect((await inner.diff({ from: part })).changes.map((change) => change.path)).toEqual(['f']);
    await goBack(inner, part);
    expect(readText(place.workspace, 'inner/f')).toBe('f2');
    await expect(goBack(inner, whole)).rejects.toMatchObject({ code: 'WORKSPACE_MISMATCH' });
  });

  test.each([3, 9, 20])(
    'RE-01: a capture that fails at step %i leaves every .git as it was and nothing restorable',
    async (step) => {
      const place = sandbox();
      const git = createGit(place.environment);
      writeFiles(place.workspace, {
        a: 'v1',
        'lib/b': 'v1',
        'sub/.git': 'gitdir: ../.git/modules/sub\n',
        'sub/c': 'v1',
      });
      for (const name of ['.', 'lib'])
        await git.run({ args: ['init', '-q'], cwd: path.join(place.workspace, name) });
      const repositories = () => treeListing(place.workspace).filter((line) => /(^|\/)\.git/.test(line));
      const before = repositories();
      let steps = 0;
      const failing = await openSandbox(place, {
        stepHook: () => {
          steps += 1;
          if (steps === step) throw Object.assign(new Error('stopped'), { code: 'EIO', syscall: 'write' });
        },
      })
        .then(
          ({ workspace }) => take(workspace, { engine }),
          (error: unknown) => error,
        )
        .catch((error: unknown) => error);
      expect(failing).toBeDefined();
      expect(repositories()).toEqual(before);
      const { workspace } = await openSandbox(place);
      for (const { id } of await workspace.listCheckpoints())
        expect((await workspace.verify(id)).problems).toEqual([]);
      const id = await take(workspace, { engine });
      rmSync(path.join(place.workspace, 'lib/b'));
      await goBack(workspace, id);
      expect(readText(place.workspace, 'lib/b')).toBe('v1');
      expect(repositories()).toEqual(before);
    },
  );
});

test.each(engines)(
  'RE-01: killed at any moment, a capture renames and writes nothing named .git, engine %s',
  async (engine) => {
    const place = cliSandbox();
    const git = createGit(place.env);
    for (let n = 0; n < 300; n += 1) place.write(`d${n % 9}/f${n}`, `${n}`.repeat(200));
    place.write('lib/b', 'v1');
    place.write('sub/.git', 'gitdir: ../.git/modules/sub\n');
    for (const name of ['.', 'lib'])
      await git.run({ args: ['init', '-q'], cwd: path.join(place.work, name) });
    const before = treeListing(place.work);
    for (const delay of [60, 150, 250, 350, 500]) {
      await place.run(['checkpoints', 'create', '--store', engine], {
        during: async (child) => {
          await setTimeout(delay);
          child.kill('SIGKILL');
        },
      });
      expect(treeListing(place.work)).toEqual(before);
    }
    const id = (await place.ok(['checkpoints', 'create', '--store', engine])).trim();
    expect((await place.json(['checkpoints', 'verify'])).problems).toEqual([]);
    rmSync(path.join(place.work, 'd3'), { recursive: true });
    await place.ok(['checkpoints', 'restore', id, '--yes']);
    expect(treeListing(place.work)).toEqual(before);
  },
);
