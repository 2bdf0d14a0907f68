import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CliSandbox, cliSandbox } from '../support/cli-sandbox.ts';
import { waymarkAsNobody } from '../support/program-for-others.ts';
import { treeListing } from '../support/tree-listing.ts';

/** Runs a command that must fail: one line (and a hint) that names the thing, the status, the code, and nothing changed. */
async function fails(
  place: CliSandbox,
  args: readonly string[],
  { status, code, names }: { readonly status: number; readonly code: string; readonly names: string },
): Promise<void> {
  const before = treeListing(place.work);
  const end = args.indexOf('--');
  const words = end < 0 ? [...args, '-f', 'json'] : args.toSpliced(end, 0, '-f', 'json');
  const [plain, json] = await Promise.all([place.run(args), place.run(words)]);
  expect({ args, status: plain.status, stdout: plain.stdout }).toEqual({ args, status, stdout: '' });
  const lines = plain.stderr.trim().split('\n');
  expect(lines[0]).toContain(names);
  expect(lines.length, plain.stderr).toBeLessThanOrEqual(2);
  expect(plain.stderr).not.toMatch(/\n\s+at |Error:/);
  expect(json.status).toBe(status);
  expect(JSON.parse(json.stdout).error).toMatchObject({ code, message: expect.stringContaining(names) });
  expect(treeListing(place.work)).toEqual(before);
}

describe('bad input', () => {
  test('SE-01: names of checkpoints that are unknown, ambiguous, foreign or no names', async () => {
    const place = cliSandbox();
    place.write('a', 'v1');
    await place.ok(['checkpoints', 'create', '--session', 's']);
    place.write('a', 'v2');
    const unknown = { status: 3, code: 'CHECKPOINT_NOT_FOUND' };
    await fails(place, ['checkpoints', 'restore', '01HXYZ1234567890ABCDEFGHJK', '--yes'], {
      ...unknown,
      names: '01HXYZ1234567890ABCDEFGHJK',
    });
    await fails(place, ['checkpoints', 'restore', '../../x', '--yes'], { ...unknown, names: '../../x' });
    await fails(place, ['checkpoints', 'show', '@~7'], { ...unknown, names: '@~7' });
    await fails(place, ['checkpoints', 'restore', 's', '99', '--yes'], { ...unknown, names: '99' });
    await fails(place, ['checkpoints', 'create', '--session', '../../x'], {
      status: 2,
      code: 'VALIDATION_ERROR',
      names: '../../x',
    });
    await fails(place, ['checkpoints', 'create', '--session', 'blobs'], {
      status: 2,
      code: 'VALIDATION_ERROR',
      names: 'blobs',
    });
    await fails(place, ['checkpoints', 'create', '--reason', 'a|b'], {
      status: 2,
      code: 'VALIDATION_ERROR',
      names: 'a|b',
    });
  });

  test('SE-01: names that are ambiguous, of another workspace, or of none', async () => {
    const place = cliSandbox();
    place.write('a', 'v1');
    const id = (await place.ok(['checkpoints', 'create', '--session', 's'])).trim();
    await place.ok(['checkpoints', 'create', '--session', 's']);
    await fails(place, ['checkpoints', 'restore', id.slice(0, 6), '--yes'], {
      status: 2,
      code: 'AMBIGUOUS_ID',
      names: id.slice(0, 6),
    });
    mkdirSync(path.join(place.base, 'other'));
    await fails(place, ['checkpoints', 'restore', id, '--yes', '--workspace', '../other'], {
      status: 4,
      code: 'WORKSPACE_MISMATCH',
      names: id,
    });
    await fails(place, ['checkpoints', 'list', '--workspace', '../nowhere'], {
      status: 3,
      code: 'WORKSPACE_NOT_FOUND',
      names: '../nowhere',
    });
  });

  test('SE-01: paths that leave the workspace or match nothing', async () => {
    const place = cliSandbox();
    place.write('a', 'v1');
    const id = (await place.ok(['checkpoints', 'create'])).trim();
    place.write('a', 'v2');
    const unsafe = { status: 2, code: 'UNSAFE_PATH' };
    await fails(place, ['checkpoints', 'restore', id, '../../etc/passwd', '--yes'], {
      ...unsafe,
      names: '../../etc/passwd',
    });
    await fails(place, ['checkpoints', 'restore', id, '/etc/passwd', '--yes'], {
      ...unsafe,
      names: '/etc/passwd',
    });
    await fails(place, ['checkpoints', 'restore', id, '.git/config', '--yes'], {
      ...unsafe,
      names: '.git/config',
    });
    await fails(place, ['checkpoints', 'cat', id, '../x'], { ...unsafe, names: '../x' });
    await fails(place, ['checkpoints', 'restore', id, 'no-such', '--yes'], {
      status: 3,
      code: 'PATH_NOT_FOUND',
      names: 'no-such',
    });
    await fails(place, ['checkpoints', 'restore', id, 'a'], {
      status: 4,
      code: 'CONFIRMATION_REQUIRED',
      names: '1 path',
    });
    await fails(place, ['undo', '01HXYZ1234567890ABCDEFGHJK', '--yes'], {
      status: 3,
      code: 'OPERATION_NOT_FOUND',
      names: '01HXYZ1234567890ABCDEFGHJK',
    });
  });

  test.each([
    ['[limits]\nmax_fils = 3\n', 'max_fils'],
    ['[limit]\nmax_files = 3\n', 'limit'],
    ['[limits]\nmax_files = "many"\n', 'max_files'],
    ['[limits]\nmax_file_bytes = -1\n', 'max_file_bytes'],
    ['[core.checkpoints]\nauto_create_on = ["on_tool_right"]\n', 'on_tool_right'],
    ['[store]\nengine = "svn"\n', 'engine'],
    ['not toml at all', 'waymark.toml'],
  ])('IC-18: the configuration %j is refused by name', async (text, names) => {
    const place = cliSandbox();
    place.write('a', 'v1');
    place.write('waymark.toml', text);
    await fails(place, ['checkpoints', 'create'], { status: 2, code: 'CONFIG_INVALID', names });
  });

  test('SE-05: a home that cannot be written, or is no directory, is named', async () => {
    const place = cliSandbox();
    place.write('a', 'v1');
    writeFileSync(path.join(place.base, 'file'), '');
    symlinkSync('/nowhere/at/all', path.join(place.base, 'dangling'));
    for (const home of ['file', 'file/below', 'dangling']) {
      const before = treeListing(place.base);
      const { status, stderr, stdout } = await place.run(['checkpoints', 'create'], {
        env: { WAYMARK_HOME: path.join(place.base, home) },
      });
      expect({ home, status, stdout }).toEqual({ home, status: 1, stdout: '' });
      expect(stderr).toContain(path.join(place.base, home.split('/')[0] ?? ''));
      expect(stderr.trim().split('\n').length, stderr).toBeLessThanOrEqual(2);
      expect(stderr).not.toContain('This is a fault in Waymark');
      expect(treeListing(place.base)).toEqual(before);
    }
    chmodSync(place.base, 0o755);
    const closed = path.join(place.base, 'closed');
    mkdirSync(closed, { mode: 0o555 });
    chmodSync(closed, 0o555);
    const waymark = waymarkAsNobody(place.work, {
      ...place.env,
      WAYMARK_HOME: path.join(closed, 'home'),
      XDG_CACHE_HOME: undefined,
    });
    const { status, stderr } = await waymark('checkpoints', 'create', '--format', 'json');
    expect(status, stderr).toBe(1);
  });
});
