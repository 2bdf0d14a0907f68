import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readText, writeFiles } from '../support/files.ts';
import { openSandbox, sandbox } from '../support/sandbox.ts';
import { take } from '../support/take.ts';

async function changed() {
  const place = sandbox();
  writeFiles(place.workspace, { a: 'v1' });
  const { workspace } = await openSandbox(place);
  const checkpoint = await take(workspace);
  writeFiles(place.workspace, { a: 'v2' });
  return { place, workspace, checkpoint };
}

test('restore() that was aborted before, or while it was decided, changes nothing', async () => {
  const { place, workspace, checkpoint } = await changed();
  const before = AbortSignal.abort();
  const during = new AbortController();
  const confirm = () => {
    during.abort();
    return true;
  };
  for (const options of [
    { confirm: 'always' as const, signal: before },
    { confirm, signal: during.signal },
  ]) {
    await expect(workspace.restore({ checkpoint, ...options })).rejects.toMatchObject({
      code: 'INTERRUPTED',
    });
  }
  await expect(workspace.undo({ confirm: 'always', signal: before })).rejects.toMatchObject({
    code: expect.stringMatching(/^(INTERRUPTED|NOTHING_TO_UNDO)$/),
  });
  expect(readText(place.workspace, 'a')).toBe('v2');
  expect(await workspace.listCheckpoints()).toHaveLength(1);
  expect(await workspace.operations()).toEqual([]);
});

test('restore({ into }) that was aborted writes no more and says what to do', async () => {
  const { place, workspace, checkpoint } = await changed();
  const into = `${place.directory}/into`;
  await expect(workspace.restore({ checkpoint, into, signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'INTERRUPTED',
    hint: expect.stringContaining('try again'),
  });
  expect(existsSync(`${into}/a`)).toBe(false);
});

test('a checkpoint of an unknown engine or type is refused, and nothing is taken', async () => {
  const { workspace } = await changed();
  for (const options of [{ engine: 'svn' }, { engine: 'memory' }, { type: 'zzz' }]) {
    await expect(workspace.createCheckpoint(options as never)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    });
  }
  const ran: string[] = [];
  await expect(
    workspace.run({ engine: 'GIT' } as never, async () => void ran.push('ran')),
  ).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  expect(ran).toEqual([]);
  expect(await workspace.listCheckpoints()).toHaveLength(1);
});
