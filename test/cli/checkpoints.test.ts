import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { cliSandbox } from '../support/cli-sandbox.ts';

const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

describe('waymark checkpoints create', () => {
  test('prints only the id in plain, the record and the statistics in JSON', async () => {
    const place = cliSandbox();
    place.write('a.txt', 'one');
    place.write('sub/b.txt', 'two');
    const first = (await place.ok(['checkpoints', 'create', '--session', 's'])).trim();
    expect(first).toMatch(ULID);

    place.write('a.txt', 'changed');
    const { checkpoint, stats, deduplicated } = await place.json([
      ...['checkpoints', 'create', '--session', 's', '--reason', 'pre-wave-3'],
      ...['--source', 'build', '--label', 'third wave'],
    ]);
    expect(checkpoint).toMatchObject({
      checkpoint_id: expect.stringMatching(ULID),
      session_id: 's',
      seq: 1,
      plan_id: null,
      checkpoint_type: 'manual',
      sandbox_ref: 'cas:s/1',
      decision_id: null,
      resource_id: null,
      filesystem_path: 'checkpoints/s/0001.json',
      size_bytes: 10,
      metadata: { reason: 'pre-wave-3', source: 'build', source_tool: null, phase: null, extra: {} },
      label: 'third wave',
      engine: 'cas',
      workspace: place.work,
      coverage: { status: 'complete', stored: 3, skipped: [] },
      pinned: false,
      restorable: true,
    });
    expect(Date.parse(checkpoint.created_at)).toBeGreaterThan(0);
    expect(stats).toEqual({
      files_observed: 2,
      files_reused: expect.any(Number),
      files_read: expect.any(Number),
    });
    expect(deduplicated).toBe(false);
  });

  test('gives the reason "manual" and the source "cli" by default', async () => {
    const place = cliSandbox();
    const { checkpoint } = await place.json(['checkpoints', 'create']);
    expect(checkpoint.metadata).toMatchObject({ reason: 'manual', source: 'cli' });
  });

  test('ends with 5 where the coverage is partial, and names waymark init', async () => {
    const place = cliSandbox();
    place.write('small', 'x');
    place.write('big', 'x'.repeat(3000));
    const env = { WAYMARK_LIMITS_MAX_FILE_BYTES: '2KiB' };
    const { status, stdout, stderr } = await place.run(['checkpoints', 'create'], { env });
    expect(status).toBe(5);
    expect(stdout.trim()).toMatch(ULID);
    expect(stderr).toContain('1 over_cap');
    expect(stderr).toContain('big');
    expect(stderr).toContain('waymark init');
    const { checkpoint } = await place.json(['checkpoints', 'create'], { env, status: 5 });
    expect(checkpoint.coverage).toMatchObject({
      status: 'partial',
      skipped: [{ path: 'big', reason: 'over_cap' }],
    });
  });

  test('takes no checkpoint of too many files, with status 0', async () => {
    const place = cliSandbox();
    for (const name of ['a', 'b', 'c']) place.write(name, name);
    const env = { WAYMARK_LIMITS_MAX_FILES: '2' };
    const { status, stdout, stderr } = await place.run(['checkpoints', 'create', '-f', 'json'], { env });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ checkpoint: null, skipped: 'too_many_files' });
    expect(stderr).toMatch(/Directory has >.* files — checkpoints disabled for performance\./);
  });

  test('takes only the named paths, relative to the current directory', async () => {
    const place = cliSandbox();
    for (const path of ['sub/a', 'sub/b', 'c']) place.write(path, path);
    await place.ok(['checkpoints', 'create', '--session', 's', 'a'], {
      cwd: join(place.work, 'sub'),
      env: { WAYMARK_SESSION: 'ignored' },
    });
    await place.ok(['checkpoints', 'create', '--workspace', place.work, '--session', 's', '--', 'sub/a']);
    const { entries } = await place.json(['checkpoints', 'show', 's', '1', '--workspace', place.work]);
    expect(entries.map((entry: { path: string }) => entry.path)).toEqual(['sub/a']);
  });
});

describe('waymark checkpoints list', () => {
  test('lists newest first in five formats; without --session those of every session', async () => {
    const place = cliSandbox();
    place.write('a', '1');
    await place.ok(['checkpoints', 'create', '--session', 'one', '--reason', 'first']);
    place.write('a', '2');
    await place.ok(['checkpoints', 'create', '--session', 'two', '--reason', 'second']);
    const list = (...more: string[]) => place.ok(['checkpoints', 'list', ...more]);

    const json = JSON.parse(await list('-f', 'json')) as { checkpoint_id: string; session_id: string }[];
    expect(json.map(({ session_id }) => session_id)).toEqual(['two', 'one']);
    expect(parseYaml(await list('--format=yaml'))).toEqual(json);
    const hashes = json.map(({ checkpoint_id }) => checkpoint_id.slice(-8));

    const plain = (await list()).trimEnd().split('\n');
    expect(plain.map((line) => line.split('\t').slice(0, 4))).toEqual([
      [hashes[0], expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/), 'second', 'cli'],
      [hashes[1], expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/), 'first', 'cli'],
    ]);
    const table = (await list('-f', 'table')).split('\n');
    expect(table[0]).toMatch(/^\| Hash +\| Timestamp +\| Reason +\| Source +\|/);
    expect(table[1]).toMatch(/^\|-+\|-+\|/);
    expect(table[2]).toMatch(new RegExp(`^\\| ${hashes[0]} \\| `));
    const rich = await list('-f', 'rich');
    expect(rich).toMatch(/^Hash +Timestamp +Reason +Source/);
    expect(rich).not.toContain('\u001b');
    expect(JSON.parse(await list('--session', 'one', '-f', 'json'))).toHaveLength(1);
    const none = await place.run(['checkpoints', 'list', '--session', 'nope']);
    expect([none.status, none.stdout]).toEqual([0, '']);
    expect(none.stderr).toContain(`No such checkpoints of ${place.work}`);
    expect(JSON.parse(await list('--limit', '1', '-f', 'json'))).toHaveLength(1);
  });

  test('UX-01: hints at checkpoints below and lists them with --all', async () => {
    const place = cliSandbox();
    mkdirSync(join(place.work, 'sub'));
    await place.ok(['checkpoints', 'create', '--workspace', 'sub']);
    const { status, stdout, stderr } = await place.run(['checkpoints', 'list']);
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    expect(stderr).toContain(join(place.work, 'sub'));
    expect(stderr).toContain('--all');
    expect(await place.json(['checkpoints', 'list', '--all'])).toHaveLength(1);
    expect(await place.json(['checkpoints', 'list'])).toEqual([]);
  });
});

describe('naming a checkpoint', () => {
  test('by id in any case, unique prefix and suffix, @, @~1, session and seq', async () => {
    const place = cliSandbox();
    const ids: string[] = [];
    for (const text of ['0', '1', '2']) {
      place.write('a', text);
      ids.push((await place.ok(['checkpoints', 'create', '--session', 'nightly'])).trim());
    }
    const cat = (...name: string[]) => place.ok(['checkpoints', 'cat', ...name, 'a']);
    const [zero = '', one = '', two = ''] = ids;
    expect(await cat(zero)).toBe('0');
    expect(await cat(one.toLowerCase())).toBe('1');
    expect(await cat(two.slice(-8))).toBe('2');
    expect(await cat(two.slice(-8, -2).toLowerCase())).toBe('2');
    expect(await cat('@')).toBe('2');
    expect(await cat('@~1')).toBe('1');
    expect(await cat('@~2')).toBe('0');
    expect(await cat('nightly', '1')).toBe('1');
    expect(await cat('nightly', '0002')).toBe('2');
  });

  test.each([
    [['@~9'], 3],
    [['nosuch', '0'], 3],
    [['nightly', '7'], 3],
    [['01ARZ3NDEKTSV4RRFFQ69G5FAV'], 3],
    [['../../x'], 3],
  ])('refuses %j', async (name, status) => {
    const place = cliSandbox();
    place.write('a', '1');
    await place.ok(['checkpoints', 'create', '--session', 'nightly']);
    const output = await place.run(['checkpoints', 'restore', ...name, '--yes', '-f', 'json']);
    expect(output.status).toBe(status);
    expect(JSON.parse(output.stdout).error).toMatchObject({ message: expect.any(String) });
    expect(place.read('a')).toBe('1');
  });
});

describe('waymark checkpoints restore', () => {
  test('gives the envelope of seed 004 with session_id, changes and the safety checkpoint', async () => {
    const place = cliSandbox();
    place.write('keep', 'k');
    place.write('a', '1');
    place.write('gone', 'g');
    const id = (await place.ok(['checkpoints', 'create', '--session', 's'])).trim();
    place.write('a', '2');
    place.write('new', 'n');
    await place.ok(['exec', '--', 'rm', 'gone']);
    const envelope = await place.json(['checkpoints', 'restore', id, '--yes', '--session', 's']);
    expect(envelope).toMatchObject({
      rollback_summary: {
        session_id: 's',
        from_checkpoint_id: id,
        restored_files_count: 3,
        safety_checkpoint_id: expect.stringMatching(ULID),
      },
      changes_reverted: ['a', 'gone', 'new'],
      changes: [
        { path: 'a', action: 'modify' },
        { path: 'gone', action: 'create' },
        { path: 'new', action: 'delete' },
      ],
      skipped: [],
      impact: { files_affected: 3 },
      post_rollback_state: { active_checkpoint: id, session_id: 's' },
      timing: { elapsed_seconds: expect.any(Number) },
      messages: expect.arrayContaining([expect.stringContaining(`Restored to checkpoint \`${id}\``)]),
    });
    expect(place.tree()).toEqual(['a', 'gone', 'keep']);

    const back = await place.ok([
      'checkpoints',
      'restore',
      envelope.rollback_summary.safety_checkpoint_id,
      '--yes',
    ]);
    expect(back).toContain('Restored to checkpoint');
    expect(place.tree()).toEqual(['a', 'keep', 'new']);
    expect(place.read('a')).toBe('2');
  });

  test('UX-05: --dry-run writes nothing, says the same as the real run and creates no checkpoint', async () => {
    const place = cliSandbox();
    place.write('a', '1');
    await place.ok(['checkpoints', 'create']);
    place.write('a', '2');
    place.write('b', '2');
    const dry = await place.json(['checkpoints', 'restore', '@', '--dry-run']);
    expect(dry).toMatchObject({ dry_run: true, rollback_summary: { safety_checkpoint_id: null } });
    expect(place.read('a')).toBe('2');
    expect(await place.json(['checkpoints', 'list'])).toHaveLength(1);
    const real = await place.json(['checkpoints', 'restore', '@', '--yes']);
    expect(real.changes).toEqual(dry.changes);
    expect(real).not.toHaveProperty('dry_run');
  });

  test('without a terminal and --yes it changes nothing and ends with 4', async () => {
    const place = cliSandbox();
    place.write('a', '1');
    await place.ok(['checkpoints', 'create']);
    place.write('a', '2');
    const { status, stdout } = await place.run(['checkpoints', 'restore', '@', '-f', 'json'], {
      input: 'y\n',
    });
    expect(status).toBe(4);
    expect(JSON.parse(stdout).error.code).toBe('CONFIRMATION_REQUIRED');
    expect(place.read('a')).toBe('2');
  });

  test('takes paths relative to the current directory, after -- and as globs', async () => {
    const place = cliSandbox();
    for (const path of ['src/a.ts', 'src/b.ts', 'src/c.md', 'd.ts']) place.write(path, '1');
    await place.ok(['checkpoints', 'create', '--session', 's']);
    const dirty = () => {
      for (const path of ['src/a.ts', 'src/b.ts', 'src/c.md', 'd.ts']) place.write(path, '2');
    };
    const restored = async (cwd: string, ...args: string[]) => {
      dirty();
      const { changes_reverted } = await place.json(['checkpoints', 'restore', ...args], {
        cwd: join(place.work, cwd),
      });
      return changes_reverted;
    };
    const workspace = ['--workspace', place.work, '--yes'];
    expect(await restored('src', ...workspace, 's', '0', 'a.ts')).toEqual(['src/a.ts']);
    expect(await restored('src', ...workspace, '@~1', '--', '../d.ts')).toEqual(['d.ts']);
    expect(await restored('.', ...workspace, 's', '0', 'src/*.ts')).toEqual(['src/a.ts', 'src/b.ts']);
    expect(await restored('.', ...workspace, 's', '0', 'src/')).toEqual(['src/a.ts', 'src/b.ts', 'src/c.md']);
  });

  test('SE-01: refuses a path outside the workspace before anything is written', async () => {
    const place = cliSandbox();
    place.write('a', '1');
    await place.ok(['checkpoints', 'create']);
    for (const path of ['../../etc/passwd', '/etc/passwd', '.git/config']) {
      const { status } = await place.run(['checkpoints', 'restore', '@', '--yes', path]);
      expect(status).toBe(2);
    }
    expect(await place.json(['checkpoints', 'list'])).toHaveLength(1);
  });

  test('PM-03: odd names are restored one at a time, and printed as git prints them', async () => {
    const place = cliSandbox();
    const names = [
      ' lead',
      'trail ',
      'new\nline',
      '-rf',
      ':(top)x',
      '*',
      'a[1]',
      '#c',
      '!n',
      'tab\t',
      'quote"',
    ];
    for (const name of names) place.write(name, '1');
    place.write('a1', '1');
    await place.ok(['checkpoints', 'create', '--session', 's']);
    for (const name of [...names, 'a1']) place.write(name, '2');
    for (const name of names) {
      const { changes_reverted } = await place.json([
        'checkpoints',
        'restore',
        's',
        '0',
        '--yes',
        '--',
        name,
      ]);
      expect(changes_reverted).toEqual([name]);
      place.write(name, '2');
    }
    const plain = await place.ok(['checkpoints', 'diff', 's', '0']);
    expect(plain).toContain('modify\t"new\\nline"\n');
    expect(plain).toContain('modify\t"quote\\""\n');
    const quoted = await place.json(['checkpoints', 'restore', 's', '0', '--yes', '--', '"new\\nline"']);
    expect(quoted.changes_reverted).toEqual(['new\nline']);
  });

  test('PM-11: names that are not UTF-8 are printed and accepted quoted', async () => {
    const place = cliSandbox();
    const write = (text: string) =>
      place.ok(['exec', '-q', '--', 'sh', '-c', `printf ${text} > "$(printf 'f\\377o')"`]);
    await write('1');
    await place.ok(['checkpoints', 'create', '--session', 's']);
    await write('2');
    const { changes } = await place.json(['checkpoints', 'diff', 's', '0']);
    expect(changes).toMatchObject([{ path: '"f\\377o"', action: 'modify' }]);
    const { changes_reverted } = await place.json([
      'checkpoints',
      'restore',
      's',
      '0',
      '--yes',
      changes[0].path,
    ]);
    expect(changes_reverted).toEqual(['"f\\377o"']);
    expect(await place.ok(['checkpoints', 'cat', 's', '0', '"f\\377o"'])).toBe('1');
  });

  test('PM-10: a workspace reached through a link is the same workspace', async () => {
    const place = cliSandbox();
    place.write('a', '1');
    symlinkSync(place.work, join(place.base, 'link'));
    await place.ok(['checkpoints', 'create'], { cwd: join(place.base, 'link') });
    place.write('a', '2');
    await place.ok(['checkpoints', 'restore', '@', '--yes', join(place.base, 'link', 'a')]);
    expect(place.read('a')).toBe('1');
  });

  test('DL-20: refuses the checkpoint of another workspace; --into writes elsewhere', async () => {
    const place = cliSandbox();
    place.write('p1/a', '1');
    place.write('p2/b', '2');
    const id = (await place.ok(['checkpoints', 'create', '--workspace', 'p1'])).trim();
    const { status, stdout } = await place.run([
      'checkpoints',
      'restore',
      id,
      '--yes',
      '--workspace',
      'p2',
      '-f',
      'json',
    ]);
    expect([status, JSON.parse(stdout).error.code]).toEqual([4, 'WORKSPACE_MISMATCH']);
    expect(place.tree()).toEqual(['p1/', 'p1/a', 'p2/', 'p2/b']);
    await place.ok(['checkpoints', 'restore', id, '--yes', '--workspace', 'p1', '--into', 'p3']);
    expect(place.read('p3/a')).toBe('1');
    const full = await place.run([
      'checkpoints',
      'restore',
      id,
      '--yes',
      '--workspace',
      'p1',
      '--into',
      'p2',
    ]);
    expect(full.status).toBe(4);
  });

  test('runs --verify after a full restore and reports what it said', async () => {
    const place = cliSandbox();
    place.write('a', '1');
    await place.ok(['checkpoints', 'create']);
    place.write('a', '2');
    const command = 'echo said; exit 3';
    // Status 5, and what the command prints stays out of the result.
    const failed = await place.json(['checkpoints', 'restore', '@', '--yes', '--verify', command], {
      status: 5,
    });
    expect(failed.verification).toEqual({ command, exit_code: 3 });
    expect(place.read('a')).toBe('1');
    const passed = await place.run(['checkpoints', 'restore', '@', '--yes', '--verify', 'echo said']);
    expect(passed).toMatchObject({ status: 0, stderr: 'said\n' });
    place.write('a', '2');
    const part = await place.ok(['checkpoints', 'restore', '@', 'a', '--yes', '--verify', 'exit 3']);
    expect(part).toContain('Not verified: only a full restore is');
    place.write('a', '3');
    const none = await place.ok(['checkpoints', 'restore', '@', '--yes']);
    expect(none).toContain('Not verified: no test command configured');
  });
});

test('waymark checkpoints show, diff, log and cat tell one story', async () => {
  const place = cliSandbox();
  place.write('a', 'one\n');
  place.write('run.sh', '#!/bin/sh\n', 0o755);
  place.write('bytes', Uint8Array.of(0, 0xff, 0xc3, 13, 10));
  const first = (await place.ok(['checkpoints', 'create', '--session', 's'])).trim();
  place.write('a', 'two\n');
  place.write('b', 'new\n');
  const second = (await place.ok(['checkpoints', 'create', '--session', 's'])).trim();

  const shown = await place.json(['checkpoints', 'show', first]);
  expect(shown).toMatchObject({ checkpoint_id: first, restorable: true, problems: [] });
  expect(shown.entries.map(({ path }: { path: string }) => path)).toEqual(['a', 'bytes', 'run.sh']);
  expect(shown.entries[2]).toMatchObject({ kind: 'file', mode: '0755', size: 10 });

  const diff = await place.json(['checkpoints', 'diff', first, second]);
  expect(diff).toMatchObject({
    from: first,
    to: second,
    changes: [
      { path: 'a', action: 'modify', from: { kind: 'file', size: 4 }, to: { kind: 'file', size: 4 } },
      { path: 'b', action: 'create', from: null, to: { kind: 'file' } },
    ],
    summary: { create: 1, modify: 1, delete: 0, mode: 0, type: 0 },
  });
  place.write('a', 'three\n');
  expect(await place.json(['checkpoints', 'diff'])).toMatchObject({
    from: second,
    to: null,
    changes: [{ path: 'a' }],
  });
  const patch = await place.ok(['checkpoints', 'diff', 's', '0', 's', '1', '--patch']);
  expect(patch).toContain('-one\n+two\n');
  expect(patch).not.toContain('three');
  expect((await place.json(['checkpoints', 'diff', '@', '--patch', '--', 'a'])).patch).toContain('+three\n');
  expect((await place.run(['checkpoints', 'diff', '@', '--patch'])).stderr).toBe('');

  const log = await place.json(['checkpoints', 'log', 'a']);
  expect(log.map(({ checkpoint_id }: { checkpoint_id: string }) => checkpoint_id)).toEqual([second, first]);
  expect((await place.run(['checkpoints', 'log', 'nowhere'])).status).toBe(3);
  expect(await place.ok(['checkpoints', 'cat', first, 'a'])).toBe('one\n');
  expect((await place.run(['checkpoints', 'cat', first, 'b'])).status).toBe(3);
});

test('waymark checkpoints pin, unpin, delete, prune, verify and purge', async () => {
  const place = cliSandbox();
  place.write('a', '1');
  place.write('token', 'very-secret');
  const id = (await place.ok(['checkpoints', 'create', '--session', 's'])).trim();
  expect(await place.json(['checkpoints', 'pin', id])).toMatchObject({ pinned: true });
  expect(await place.json(['checkpoints', 'unpin', 's', '0'])).toMatchObject({ pinned: false });
  expect(await place.json(['checkpoints', 'verify'])).toEqual({ checked: 1, problems: [] });
  expect(await place.json(['checkpoints', 'prune', '--dry-run'])).toMatchObject({
    dry_run: true,
    dropped: [],
  });

  expect((await place.run(['checkpoints', 'purge', '--path', 'token'])).status).toBe(4);
  expect(await place.json(['checkpoints', 'purge', '--path', 'token', '--yes'])).toMatchObject({
    checkpoints: 1,
    paths: ['token'],
  });
  expect((await place.run(['checkpoints', 'cat', id, 'token'])).status).toBe(3);

  place.write('a', '2');
  const other = (await place.ok(['checkpoints', 'create', '--session', 's'])).trim();
  expect((await place.run(['checkpoints', 'delete', id])).status).toBe(4);
  expect(await place.json(['checkpoints', 'delete', id, '--yes'])).toMatchObject({ checkpoint_id: id });
  expect(
    (await place.json(['checkpoints', 'list'])).map((one: { checkpoint_id: string }) => one.checkpoint_id),
  ).toEqual([other]);
});

test('waymark checkpoints delete keeps the ends of a run unless forced, and names it', async () => {
  const place = cliSandbox();
  place.write('a', '1');
  await place.ok(['exec', '-q', '--', 'sh', '-c', 'echo 2 > a']);
  const [{ operation_id, before, after }] = await place.json(['operations']);
  for (const id of [before, after]) {
    const refused = await place.run(['checkpoints', 'delete', id, '--yes']);
    expect(refused).toMatchObject({ status: 4, stderr: expect.stringContaining(`run ${operation_id}`) });
    expect(refused.stderr).toContain('--force');
  }
  await place.ok(['undo', '--dry-run']);
  await place.ok(['checkpoints', 'delete', before, '--yes', '--force']);
  expect((await place.run(['undo', '--dry-run'])).status).toBe(4);
});

test('the newest checkpoint of a workspace that has none is said to be missing, with the way to one', async () => {
  const { status, stderr } = await cliSandbox().run(['checkpoints', 'diff', '@']);
  expect(status).toBe(3);
  expect(stderr).toMatch(/has none yet\nhint: Take one with: waymark checkpoints create\n$/);
});

test('waymark checkpoints create warns of a path that is not there', async () => {
  const place = cliSandbox();
  place.write('a', '1');
  const { status, stderr } = await place.run(['checkpoints', 'create', 'a', 'typo', 'a/below']);
  expect(status).toBe(0);
  expect(stderr).toMatch(/typo is not there[^\n]*\n.*a\/below is not there/);
  expect(stderr).not.toMatch(/: a is not there/);
});

test('checkpoints diff --patch says what of the difference git apply cannot be told', async () => {
  const place = cliSandbox();
  place.write('private', '1', 0o644);
  place.write('gone/empty/x', '1');
  rmSync(join(place.work, 'gone/empty/x'));
  await place.ok(['checkpoints', 'create']);
  chmodSync(join(place.work, 'private'), 0o600);
  rmSync(join(place.work, 'gone'), { recursive: true });
  for (const name of ['e1', 'e2', 'full/inner']) mkdirSync(join(place.work, name), { recursive: true });
  place.write('full/inner/file', '2');
  place.write('large', Buffer.alloc(9_000_000));
  const { status, stdout, stderr } = await place.run(['checkpoints', 'diff', '@', '--patch']);
  expect(status).toBe(0);
  expect(stdout.match(/^diff --git .*$/gm)).toEqual(['diff --git a/full/inner/file b/full/inner/file']);
  expect(stderr.split('\n')).toEqual([
    'waymark: warning: not in the patch: 4 empty directories: e1, e2, gone, …',
    'waymark: warning: not in the patch: 1 permission (it knows executable or not): private',
    'waymark: warning: not in the patch: 1 path (not held on both sides): large',
    '',
  ]);
  const json = await place.run(['checkpoints', 'diff', '@', '--patch', '-f', 'json']);
  expect([JSON.parse(json.stdout).patch, json.stderr]).toEqual([stdout, stderr]);
});
