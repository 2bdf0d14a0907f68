import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cliSandbox } from '../support/cli-sandbox.ts';

describe('waymark undo and redo', () => {
  test('take back the newest run and take that back', async () => {
    const place = cliSandbox();
    place.write('a', '1');
    await place.ok(['exec', '--', 'sh', '-c', 'echo 2 > a; echo n > new']);
    const dry = await place.json(['undo', '--dry-run']);
    expect(dry.changes).toEqual([
      { path: 'a', action: 'modify' },
      { path: 'new', action: 'delete' },
    ]);
    expect((await place.run(['undo'])).status).toBe(4);
    const undone = await place.json(['undo', '--yes']);
    expect(undone.changes).toEqual(dry.changes);
    expect(undone.rollback_summary).toMatchObject({ from_checkpoint_id: null, restored_files_count: 2 });
    expect(place.tree()).toEqual(['a']);
    expect(place.read('a')).toBe('1');

    await place.ok(['redo', '--yes']);
    expect(place.read('a')).toBe('2\n');
    expect(place.tree()).toEqual(['a', 'new']);
    const log = await place.json(['operations']);
    expect(log.map(({ kind }: { kind: string }) => kind)).toEqual(['redo', 'undo', 'run']);
    expect(log[2]).toMatchObject({
      status: 'done',
      changed_count: 2,
      description: expect.stringContaining('sh -c'),
    });
  });

  test('leave a conflict alone with status 5, unless forced', async () => {
    const place = cliSandbox();
    place.write('a', '1');
    place.write('b', '1');
    await place.ok(['exec', '--', 'sh', '-c', 'echo 2 > a; echo 2 > b']);
    place.write('a', 'by hand');
    const partial = await place.json(['undo', '--yes'], { status: 5 });
    expect(partial.skipped).toMatchObject([{ path: 'a', reason: 'conflict' }]);
    expect([place.read('a'), place.read('b')]).toEqual(['by hand', '1']);
    expect(partial.messages[1]).toEqual(
      expect.stringMatching(
        /^1 path was changed since: waymark undo [0-9A-Z]{26} --force takes it back too$/,
      ),
    );
  });

  test('say that --force helps where everything was changed since', async () => {
    const place = cliSandbox();
    await place.ok(['exec', '--', 'sh', '-c', 'echo 1 > a; echo 1 > b']);
    place.write('a', 'by hand');
    place.write('b', 'by hand');
    const text = await place.ok(['undo', '--yes'], { status: 5 });
    expect(text).toMatch(/2 paths were changed since: waymark undo [0-9A-Z]{26} --force takes them back too/);
    expect(text).not.toContain('nothing to take back');
    await place.ok(['undo', '--yes', '--force']);
    expect(place.tree()).toEqual([]);
  });

  test('undo goes past runs that changed nothing', async () => {
    const place = cliSandbox();
    await place.ok(['exec', '--', 'sh', '-c', 'echo 1 > one.txt']);
    await place.ok(['exec', '--', 'true']);
    await place.ok(['undo', '--yes']);
    expect(place.tree()).toEqual([]);
    expect((await place.run(['undo', '--yes'])).status).toBe(4);
  });

  test('undo takes a named operation, only some paths, or a session', async () => {
    const place = cliSandbox();
    await place.ok(['exec', '--session', 'one', '--', 'sh', '-c', 'echo 1 > a; echo 1 > b']);
    await place.ok(['exec', '--session', 'two', '--', 'sh', '-c', 'echo 1 > c']);
    const [, first] = await place.json(['operations']);
    await place.ok(['undo', first.operation_id, '--yes', '--', 'a']);
    expect(place.tree()).toEqual(['b', 'c']);
    await place.ok(['undo', '--session', 'two', '--yes']);
    expect(place.tree()).toEqual(['b']);
    expect((await place.run(['undo', first.operation_id, '--session', 'two'])).status).toBe(2);
    expect((await place.run(['undo', '01ARZ3NDEKTSV4RRFFQ69G5FAV', '--yes'])).status).toBe(3);
  });

  test('nothing to undo is status 4', async () => {
    const place = cliSandbox();
    const { status, stdout } = await place.run(['undo', '--yes', '-f', 'json']);
    expect([status, JSON.parse(stdout).error.code]).toEqual([4, 'NOTHING_TO_UNDO']);
  });
});

test('waymark recover needs to be told which way', async () => {
  const place = cliSandbox();
  expect((await place.run(['recover'])).status).toBe(2);
  expect((await place.run(['recover', '--continue', '--abort'])).status).toBe(2);
});

test('waymark recover --set-aside keeps a damaged journal and names the way back', async () => {
  const place = cliSandbox();
  place.write('a', '1');
  await place.ok(['checkpoints', 'create']);
  place.write('a', '2');
  await place.ok(['checkpoints', 'restore', '@', '--yes']);
  const [{ operation_id }] = await place.json(['operations']);
  const { dir_hash } = await place.json(['status']);
  const journals = join(place.home, 'journal');
  const text = `{"format":1,"operationId":"${operation_id}","kind":"rest`;
  writeFileSync(join(journals, `${dir_hash}.json`), text);
  const leftover = `d/.waymark-restore-${operation_id}-0.old`;
  place.write(leftover, 'moved away');

  const refused = await place.run(['undo', '--yes']);
  expect(refused).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('waymark recover --set-aside'),
  });
  expect((await place.run(['recover', '--abort'])).stderr).toContain('waymark recover --set-aside');
  expect((await place.json(['status'])).damaged_journal).toContain(dir_hash);
  expect((await place.run(['checkpoints', 'create'])).status).toBe(0);

  const aside = await place.json(['recover', '--set-aside']);
  expect(aside).toMatchObject({ operation_id, leftovers: [leftover] });
  expect(readFileSync(aside.journal, 'utf8')).toBe(text);
  expect(readdirSync(journals)).toHaveLength(1);
  expect(place.read(leftover)).toBe('moved away');
  expect((await place.json(['checkpoints', 'show', aside.safety_checkpoint_id])).pinned).toBe(true);
  await place.ok(['checkpoints', 'restore', aside.safety_checkpoint_id, 'a', '--yes']);
  expect(place.read('a')).toBe('2');
  expect((await place.run(['recover', '--set-aside'])).status).toBe(4);
});

test('waymark recover takes one way out, and none where nothing was interrupted', async () => {
  const place = cliSandbox();
  await place.ok(['checkpoints', 'create']);
  expect((await place.run(['recover', '--set-aside', '--abort'])).status).toBe(2);
  expect((await place.run(['recover', '--set-aside'])).stderr).toContain('No interrupted restore');
});

test('waymark undo and redo look at the journal of an interrupted restore before anything else', async () => {
  const place = cliSandbox();
  await place.ok(['checkpoints', 'create']);
  const { dir_hash } = await place.json(['status']);
  mkdirSync(join(place.home, 'journal'), { recursive: true });
  writeFileSync(join(place.home, 'journal', `${dir_hash}.json`), '{"format":1,');
  for (const command of ['undo', 'redo']) {
    expect((await place.run([command, '--yes'])).stderr).toContain('waymark recover --set-aside');
  }
});
