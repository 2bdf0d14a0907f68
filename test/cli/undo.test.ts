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
