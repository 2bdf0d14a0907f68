import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { BIN, cliSandbox, runProgram, SOURCE_BIN } from '../support/cli-sandbox.ts';

describe('errors', () => {
  test('are an object on standard output for json and yaml, else a line and a hint on standard error', async () => {
    const place = cliSandbox();
    const json = await place.run(['checkpoints', 'show', 'nonsense', '--format', 'json']);
    expect(json.status).toBe(3);
    expect(JSON.parse(json.stdout)).toMatchObject({
      error: { code: 'CHECKPOINT_NOT_FOUND', message: expect.stringContaining('nonsense') },
    });
    expect(json.stderr).toBe('');
    const yaml = await place.run(['checkpoints', 'show', 'nonsense', '-f', 'yaml']);
    expect(parseYaml(yaml.stdout)).toEqual(JSON.parse(json.stdout));
    const plain = await place.run(['checkpoints', 'show', 'nonsense']);
    expect(plain.stdout).toBe('');
    expect(plain.stderr).toMatch(/^waymark: .*nonsense.*\n(hint: .*\n)?$/);
  });

  test('of usage follow the format, too', async () => {
    const place = cliSandbox();
    const { status, stdout } = await place.run(['checkpoints', 'create', '--reson', 'x', '-f', 'json']);
    expect(status).toBe(2);
    expect(JSON.parse(stdout)).toEqual({
      error: { code: 'USAGE', message: "unknown option '--reson'", hint: 'Did you mean --reason?' },
    });
    const plain = await place.run(['chekpoints']);
    expect([plain.status, plain.stdout]).toEqual([2, '']);
  });

  test.each([
    ['checkpoints', 'create', '--reason', 'a|b'],
    ['checkpoints', 'create', '--reason', 'a\nb'],
    ['checkpoints', 'create', '--session', '../x'],
    ['checkpoints', 'create', '--session', 'blobs'],
    ['checkpoints', 'list', '--limit', '0'],
    ['checkpoints', 'show', '@', '@'],
    ['exec2'],
  ])('waymark %s %s %s %s is status 2', async (...args) => {
    const place = cliSandbox();
    place.write('a', '1');
    await place.ok(['checkpoints', 'create']);
    expect((await place.run(args.filter((word) => word !== undefined))).status).toBe(2);
  });

  test('CONFIG_INVALID names file, line and key', async () => {
    const place = cliSandbox();
    place.write('waymark.toml', '[limits]\nmax_fils = 3\n');
    const { status, stderr } = await place.run(['status']);
    expect(status).toBe(2);
    expect(stderr).toContain(`${join(place.work, 'waymark.toml')}:2: limits.max_fils`);
  });

  test('PD-03: /, the home and the temporary directory are refused', async () => {
    const place = cliSandbox();
    for (const directory of ['/', join(place.base, 'home'), place.base]) {
      const { status, stdout } = await place.run([
        'checkpoints',
        'create',
        '--workspace',
        directory,
        '-f',
        'json',
      ]);
      expect([status, JSON.parse(stdout).error.code]).toEqual([4, 'WORKSPACE_REFUSED']);
    }
    const inside = join(place.home, 'inner');
    mkdirSync(inside, { recursive: true });
    expect((await place.run(['checkpoints', 'create', '--workspace', inside, '--allow-root'])).status).toBe(
      4,
    );
  });

  test('a directory that is not there is status 3', async () => {
    const place = cliSandbox();
    expect((await place.run(['status', '--workspace', 'nowhere'])).status).toBe(3);
  });
});

describe('which workspace', () => {
  test('the nearest with waymark.toml or checkpoints, not above a git top level', async () => {
    const place = cliSandbox();
    const of = async (cwd: string) =>
      (await place.json(['status'], { cwd: join(place.work, cwd) })).workspace;
    mkdirSync(join(place.work, 'repo/sub/deep'), { recursive: true });
    expect(await of('repo/sub/deep')).toBe(join(place.work, 'repo/sub/deep'));
    mkdirSync(join(place.work, 'repo/.git'));
    expect(await of('repo/sub/deep')).toBe(join(place.work, 'repo'));
    place.write('waymark.toml', '');
    expect(await of('repo/sub/deep')).toBe(join(place.work, 'repo'));
    await place.ok(['checkpoints', 'create', '--workspace', 'repo/sub']);
    expect(await of('repo/sub/deep')).toBe(join(place.work, 'repo/sub'));
    place.write('repo/sub/deep/waymark.toml', '');
    expect(await of('repo/sub/deep')).toBe(join(place.work, 'repo/sub/deep'));
  });
});

describe('waymark status, init and trust', () => {
  test('IC-18: status prints effective values, where they came from, and the last checkpoint', async () => {
    const place = cliSandbox();
    place.write('waymark.toml', '[retention]\nkeep = 7\n');
    place.write('.env', 'x');
    const id = (await place.ok(['checkpoints', 'create'])).trim();
    const state = await place.json(['status'], { env: { WAYMARK_LIMITS_MAX_FILES: '99' } });
    const setting = (key: string) => state.settings.find((one: { key: string }) => one.key === key);
    expect(setting('limits.max_files')).toEqual({
      key: 'limits.max_files',
      value: 99,
      origin: 'environment',
    });
    expect(setting('retention.keep')).toMatchObject({ value: 7, origin: join(place.work, 'waymark.toml') });
    expect(setting('store.engine')).toMatchObject({ value: 'cas', origin: 'default' });
    expect(state).toMatchObject({
      workspace: place.work,
      home: place.home,
      config_file: join(place.work, 'waymark.toml'),
      last_checkpoint: { checkpoint_id: id },
      checkpoint_count: 1,
      not_covered: { count: 1, paths: [{ path: '.env', reason: 'secret' }] },
      store: { bytes: expect.any(Number), max_bytes: 5 * 1024 ** 3, prune_would_free: null },
      interrupted_restore: null,
      open_runs: [],
    });
    expect(await place.ok(['status'])).toContain(id);
  });

  test('init measures, writes a file with limits that fit, and never replaces one', async () => {
    const place = cliSandbox();
    place.write('big', 'x'.repeat(9 * 1024 ** 2));
    const proposal = await place.json(['init', '--dry-run']);
    expect(proposal).toMatchObject({
      written: false,
      files: 1,
      proposed: { max_file_bytes: expect.any(Number) },
    });
    expect(place.exists('waymark.toml')).toBe(false);
    await place.run(['checkpoints', 'create']);
    await place.ok(['init']);
    expect(place.read('waymark.toml')).toMatch(/\[limits\]\nmax_file_bytes = /);
    expect((await place.run(['checkpoints', 'create'])).status).toBe(0);
    const text = place.read('waymark.toml');
    expect(await place.json(['init'])).toMatchObject({ written: false, proposed: null });
    expect(await place.ok(['init'])).toContain('waymark.toml exists and stays as it is');
    expect(place.read('waymark.toml')).toBe(text);
  });

  test('trust lets the commands of a workspace file count until it changes', async () => {
    const place = cliSandbox();
    place.write('waymark.toml', '[restore]\nverify = "touch verified"\n');
    place.write('a', '1');
    const created = await place.run(['checkpoints', 'create']);
    expect(created.stderr.match(/not trusted/g)).toHaveLength(1);
    const restore = async () => {
      place.write('a', String(Math.random()));
      return await place.run(['checkpoints', 'restore', created.stdout.trim(), '--yes']);
    };
    expect((await restore()).stderr).toContain('not trusted');
    expect(place.exists('verified')).toBe(false);
    expect(await place.ok(['trust'])).toContain('restore.verify = "touch verified"');
    expect((await restore()).stderr).not.toContain('not trusted');
    expect(place.exists('verified')).toBe(true);
    await place.ok(['trust', '--revoke']);
    expect((await restore()).stderr).toContain('not trusted');
  });

  test('doctor finds nothing wrong and rebuilds the catalog', async () => {
    const place = cliSandbox();
    place.write('a', '1');
    const id = (await place.ok(['checkpoints', 'create'])).trim();
    expect(await place.json(['doctor'])).toMatchObject({ problems: [], rebuilt: false, checkpoints: 1 });
    writeFileSync(join(place.home, 'catalog.db'), 'garbage');
    expect((await place.run(['checkpoints', 'list'])).status).toBe(1);
    const report = await place.json(['doctor', '--rebuild-catalog']);
    expect(report).toMatchObject({ rebuilt: true, checkpoints: 1 });
    expect(readFileSync(report.replaced_catalog, 'utf8')).toBe('garbage');
    expect(await place.ok(['doctor', '--rebuild-catalog'])).toMatch(
      /^The catalog before it is kept as \/.*catalog\.db\.replaced-\d+$/m,
    );
    expect((await place.json(['checkpoints', 'list']))[0].checkpoint_id).toBe(id);
  });
});

describe('at a terminal', () => {
  test('restore shows the plan, asks, and goes on after yes', async () => {
    const place = cliSandbox();
    place.write('a', '1');
    await place.ok(['checkpoints', 'create']);
    place.write('a', '2');
    const output = await place.terminal(['checkpoints', 'restore', '@'], [['1 path (1 modified)?', 'y']]);
    expect(output.status).toBe(0);
    // The preview lists it, the result does not again.
    expect(output.stdout.match(/modify/g)).toHaveLength(1);
    expect(output.stdout).toContain('Restored to checkpoint');
    expect(output.stdout).toContain('\u001b[');
    expect(place.read('a')).toBe('1');
  });

  test.each([
    ['n', 4],
    ['\r', 4],
    ['\u0003', 130],
  ])('the answer %j changes nothing and ends with %d', async (keys, status) => {
    const place = cliSandbox();
    place.write('a', '1');
    await place.ok(['checkpoints', 'create']);
    place.write('a', '2');
    const output = await place.terminal(['checkpoints', 'restore', '@'], [['1 path (1 modified)?', keys]]);
    expect(output.status).toBe(status);
    expect(place.read('a')).toBe('2');
    expect(await place.json(['checkpoints', 'list'])).toHaveLength(1);
  });

  test('PLAN_STALE: what changes while the question waits is not overwritten', async () => {
    const place = cliSandbox();
    place.write('a', '1');
    await place.ok(['checkpoints', 'create']);
    place.write('a', '2');
    const output = await place.terminal(
      ['checkpoints', 'restore', '@'],
      [['1 path (1 modified)?', 'y', 'echo 3 > a']],
    );
    expect(output.status).toBe(4);
    expect(output.stdout).toContain('changed since the plan was shown');
    expect(place.read('a')).toBe('3\n');
  });

  test('colours obey NO_COLOR', async () => {
    const place = cliSandbox();
    await place.ok(['checkpoints', 'create']);
    expect((await place.terminal(['checkpoints', 'list'])).stdout).toContain('\u001b[1mHash');
    const plain = await place.terminal(['checkpoints', 'list'], [], { env: { NO_COLOR: '1' } });
    expect(plain.stdout).toMatch(/Hash +Timestamp/);
    expect(plain.stdout).not.toContain('\u001b[');
  });
});

describe('the process', () => {
  test('--version prints the version of the package', async () => {
    const place = cliSandbox();
    expect(await place.ok(['--version'])).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(await place.ok(['checkpoints', '--version', '--help'])).toContain('Usage');
    expect(existsSync(place.home)).toBe(false);
  });

  test('runs from the sources', async () => {
    const place = cliSandbox();
    const output = await runProgram(process.execPath, [SOURCE_BIN, 'checkpoints', 'create'], {
      cwd: place.work,
      env: place.env,
    });
    expect(output).toMatchObject({ status: 0, stdout: expect.stringMatching(/^[0-9A-Z]{26}\n$/) });
  });

  test('a reader that goes away is no error', async () => {
    const place = cliSandbox();
    for (let index = 0; index < 300; index += 1)
      place.write(`a-file-with-quite-a-long-name-${index}`, 'x'.repeat(500));
    await place.ok(['checkpoints', 'create']);
    const line = `${process.execPath} ${BIN} checkpoints show @ --format json | head -c 10; echo "\${PIPESTATUS[0]}"`;
    const output = await runProgram('bash', ['-c', line], { cwd: place.work, env: place.env });
    expect(output.stdout).toBe('{\n  "check0\n');
    expect(output.stderr).toBe('');
  });

  test('SIGINT ends a command with 130 and leaves nothing half done', async () => {
    const place = cliSandbox();
    for (let index = 0; index < 3000; index += 1)
      place.write(`d${index % 50}/f${index}`, `${index}`.repeat(300));
    const output = await place.run(['checkpoints', 'create'], {
      during: async (child) => {
        while (!existsSync(join(place.home, 'catalog.db')))
          await new Promise((resolve) => setTimeout(resolve, 5));
        child.kill('SIGINT');
      },
    });
    expect([0, 130]).toContain(output.status);
    const list = await place.json(['checkpoints', 'list']);
    expect(list).toHaveLength(output.status === 0 ? 1 : 0);
    expect((await place.run(['checkpoints', 'create'])).status).toBe(0);
  });

  test('SE-05: everything below WAYMARK_HOME is private', async () => {
    const place = cliSandbox();
    place.write('a', '1');
    place.write('waymark.toml', '[restore]\nverify = "true"\n');
    await place.ok(['trust']);
    await place.ok(['checkpoints', 'create']);
    await place.ok(['exec', '-q', '--', 'sh', '-c', 'echo 2 > a']);
    await place.ok(['undo', '--yes']);
    for (const name of ['', ...readdirSync(place.home, { recursive: true, encoding: 'utf8' })]) {
      const stat = statSync(join(place.home, name));
      expect([name, stat.mode & 0o777]).toEqual([name, stat.isDirectory() ? 0o700 : 0o600]);
    }
  });

  test('a relative WAYMARK_HOME is relative to the current directory; unset it is the platform’s data directory', async () => {
    const place = cliSandbox();
    await place.ok(['checkpoints', 'create'], { env: { WAYMARK_HOME: '../elsewhere' } });
    expect(existsSync(join(place.base, 'elsewhere', 'catalog.db'))).toBe(true);
    await place.ok(['checkpoints', 'create'], { env: { WAYMARK_HOME: undefined } });
    const data =
      process.platform === 'darwin' ? 'Library/Application Support/waymark' : '.local/share/waymark';
    expect(existsSync(join(place.base, 'home', data, 'catalog.db'))).toBe(true);
  });
});

test('waymark status sums up what is orphaned, and passes over sandboxes, worktrees and our own directory', async () => {
  const place = cliSandbox();
  for (const name of ['gone', 'lost', '.waymark/worktrees/removed']) {
    place.write(`../other/${name}/a`, 'a');
    await place.ok(['checkpoints', 'create', '--workspace', `../other/${name}`]);
  }
  rmSync(join(place.base, 'other'), { recursive: true });
  place.write('a', 'a');
  place.write('.waymark/.gitignore', '*');
  await place.ok(['checkpoints', 'create']);
  const { stdout, stderr } = await place.run(['status']);
  expect(stdout).toContain('complete, 0 paths not covered');
  expect(stdout).not.toMatch(/pruned/);
  expect(stderr.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/2 checkpoints of 2 directories that are missing or replaced .*--orphans$/),
  ]);
  const state = await place.json(['status']);
  expect([state.orphans.length, state.not_covered.count]).toEqual([3, 1]);
  expect(await place.ok(['checkpoints', 'show', '@'])).not.toMatch(/pruned/);
  expect(await place.ok(['checkpoints', 'show', '@', '--files'])).toMatch(/pruned/);
});
