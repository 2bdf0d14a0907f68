import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BIN, cliSandbox, runProgram } from '../support/cli-sandbox.ts';

describe('waymark exec', () => {
  test('passes streams, arguments and exit status through', async () => {
    const place = cliSandbox();
    const output = await place.run(['exec', '--', 'sh', '-c', 'cat; echo err >&2; exit 7'], {
      input: 'hello',
    });
    expect(output.status).toBe(7);
    expect(output.stdout).toBe('hello');
    expect(output.stderr).toContain('err\n');
    expect(await place.ok(['exec', '-q', 'printf', '%s|', '-f', '--yes', 'a b'])).toBe('-f|--yes|a b|');
  });

  test('PM-11: hands on arguments and works in directories that are not UTF-8', async () => {
    const place = cliSandbox();
    const script = [
      'd=$(printf "d\\377"); mkdir "$d" && cd "$d" && echo 1 > a',
      `W="${process.execPath} ${BIN}"`,
      '$W exec -q -- printf "%s" "$(printf "f\\377o")" | od -An -tx1',
      'id=$($W checkpoints create --workspace .) && echo 2 > a && $W checkpoints restore $id a --workspace . --yes >&2 && cat a',
    ].join('\n');
    const output = await runProgram('bash', ['-c', script], { cwd: place.work, env: place.env });
    expect(output.stderr).toContain('Restored `a` from checkpoint');
    expect(output.stdout).toBe(' 66 ff 6f\n1\n');
  });

  test('says what changed, which refs moved and how to undo it, on standard error', async () => {
    const place = cliSandbox();
    place.write('a', '1');
    const script = [
      'git init -q -b main .',
      'echo 2 > a',
      'git add a',
      'git -c user.name=x -c user.email=x commit -qm x',
    ].join('\n');
    await place.ok(['exec', '-q', '--', 'sh', '-c', script]);
    const { status, stdout, stderr } = await place.run([
      'exec',
      '--',
      'sh',
      '-c',
      'echo 3 > a; git -c user.name=x -c user.email=x commit -qam y',
    ]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    expect(stderr).toMatch(/1 path changed: 1 modified\n/);
    expect(stderr).toMatch(/ modify +a\n/);
    expect(stderr).toMatch(/git refs\/heads\/main moved: [0-9a-f]{8} -> [0-9a-f]{8}/);
    const [operation] = await place.json(['operations']);
    expect(stderr).toContain(`waymark undo ${operation.operation_id}`);
    expect((await place.run(['exec', '--', 'true'])).stderr).toContain('nothing changed');
    expect((await place.run(['exec', '-q', '--', 'true'])).stderr).toBe('');
  });

  test('inside a run that is inside a run, a restore is allowed', async () => {
    const place = cliSandbox();
    place.write('a', '1');
    const id = (await place.ok(['checkpoints', 'create', '--format', 'plain'])).trim();
    const waymark = `${process.execPath} ${BIN}`;
    const inner = `echo 2 > a; ${waymark} checkpoints restore ${id} --yes`;
    await place.ok(['exec', '--', 'sh', '-c', `${waymark} exec -- sh -c '${inner}'`]);
    expect(place.read('a')).toBe('1');
  });

  test('names what is gone for good', async () => {
    const place = cliSandbox();
    place.write('.gitignore', 'ignored/\n');
    for (const path of ['ignored/x', 'node_modules/y', '.env', 'a']) place.write(path, 'x');
    const { stderr } = await place.run(['exec', '--', 'rm', '-r', 'ignored', 'node_modules', '.env']);
    expect(stderr).toContain(
      "Gone, and never held by a checkpoint: .env, ignored, node_modules (undo can't bring it back)",
    );
    expect(stderr).not.toContain('nothing changed');
  });

  test('shows the ref that HEAD points to in full', async () => {
    const place = cliSandbox();
    place.write('a', '1');
    const git = 'git -c user.name=x -c user.email=x';
    const script = `git init -q -b main . && git add a && ${git} commit -qm x`;
    await place.ok(['exec', '-q', '--', 'sh', '-c', script]);
    const switched = await place.run(['exec', '--', 'git', 'switch', '-qc', 'feature/long-name']);
    expect(switched.stderr).toContain('git HEAD moved: refs/heads/main -> refs/heads/feature/long-name (');
    expect(switched.stderr).toMatch(/git refs\/heads\/feature\/long-name moved: nothing -> [0-9a-f]{8} \(/);
    const detached = await place.run(['exec', '--', 'git', 'checkout', '-q', '--detach']);
    expect(detached.stderr).toMatch(
      /git HEAD moved: refs\/heads\/feature\/long-name -> [0-9a-f]{8} \(undo leaves it\)/,
    );
  });

  test('does not say that nothing changed where what changed is not held', async () => {
    const place = cliSandbox();
    const { stderr } = await place.run(['exec', '--', 'sh', '-c', 'head -c 9000000 /dev/zero > big']);
    expect(stderr).toMatch(/Changed, but not held by a checkpoint: big \(undo leaves it\)\n/);
    expect(stderr).toContain('nothing else changed');
    expect(stderr).not.toContain('nothing changed');
    const diff = await place.run(['checkpoints', 'diff', '@~1', '@']);
    expect(diff.stdout).toContain('over_cap');
    expect(diff.stderr).toBe('No other differences\n1 path could not be compared: not held on both sides\n');
    await place.ok(['exec', '-q', '--', 'sh', '-c', 'head -c 9500000 /dev/zero > big']);
    const neither = await place.run(['checkpoints', 'diff', '@~1', '@']);
    expect(neither.stderr).toBe(diff.stderr);
  });

  test('says before what is not covered', async () => {
    const place = cliSandbox();
    place.write('.env', 'S=1');
    place.write('big', 'x'.repeat(3000));
    const { stderr } = await place.run(['exec', '--', 'sh', '-c', 'echo MARK >&2'], {
      env: { WAYMARK_LIMITS_MAX_FILE_BYTES: '2KiB' },
    });
    const before = stderr.slice(0, stderr.indexOf('MARK'));
    expect(before).toMatch(/not covered: .*1 secret/);
    expect(before).toMatch(/not covered: .*1 over_cap/);
    expect(before).toContain('big');
  });

  test('exports a session of its own and the run to the child', async () => {
    const place = cliSandbox();
    const seen = async (...more: string[]) =>
      (
        await place.ok([
          'exec',
          '-q',
          ...more,
          '--',
          'sh',
          '-c',
          'echo $WAYMARK_SESSION $WAYMARK_RUN $WAYMARK_HOME',
        ])
      )
        .trim()
        .split(' ');
    const [one, run, home] = await seen();
    const [two] = await seen();
    expect(one).not.toBe(two);
    expect(run).toMatch(/^exec-[0-9a-z]{26}$/);
    expect(home).toBe(place.home);
    expect((await seen('--session', 'nightly'))[0]).toBe('nightly');
    const nested = await place.ok(
      ['exec', '-q', '--', 'sh', '-c', `${process.execPath} ${BIN} checkpoints create -f json`],
      { env: { WAYMARK_SESSION: 'outer' } },
    );
    expect(JSON.parse(nested).checkpoint.session_id).toBe('outer');
  });

  test.each([
    [['exec', '--', 'no-such-program-anywhere'], 127],
    [['exec', '--', './gone.sh'], 127],
    [['exec', '--', './data'], 126],
    [['exec', '--', './'], 126],
    [['exec'], 125],
    [['exec', '--no-such-option', '--', 'true'], 125],
    [['exec', '--store', 'nonsense', '--', 'true'], 125],
    [['exec', '--session', '../x', '--', 'true'], 125],
    [['exec', '--workspace', 'nowhere', '--', 'true'], 125],
  ])('%j fails by itself with %d', async (args, status) => {
    const place = cliSandbox();
    place.write('data', 'x', 0o644);
    const output = await place.run(args);
    expect(output.status).toBe(status);
    expect(output.stderr).toMatch(/^waymark: .+\n/);
    expect(await place.json(['operations'])).toEqual([]);
  });

  test('refuses to run where the required checkpoint can’t be taken', async () => {
    const place = cliSandbox();
    for (const name of ['a', 'b', 'c']) place.write(name, name);
    const env = { WAYMARK_LIMITS_MAX_FILES: '2' };
    const output = await place.run(['exec', '--require-checkpoint', '--', 'rm', 'a'], { env });
    expect(output.status).toBe(125);
    expect(place.exists('a')).toBe(true);
    const without = await place.run(['exec', '--', 'rm', 'a'], { env });
    expect(without.status).toBe(0);
    expect(without.stderr).toContain('no checkpoint was taken');
    expect(place.exists('a')).toBe(false);
  });

  test('gives 128 + n where a signal ended the command, and records an interrupted run', async () => {
    const place = cliSandbox();
    expect((await place.run(['exec', '--', 'sh', '-c', 'kill -KILL $$'])).status).toBe(137);
    const [operation] = await place.json(['operations']);
    expect(operation.status).toBe('interrupted');
    expect((await place.run(['exec', '--', 'sh', '-c', 'exit 143'])).status).toBe(143);
    expect((await place.json(['operations']))[0].status).toBe('interrupted');
  });

  test.each(['SIGTERM', 'SIGHUP', 'SIGINT'] as const)(
    'hands %s on and still records the end',
    async (signal) => {
      const place = cliSandbox();
      const script =
        "trap 'echo caught > caught; exit 3' TERM HUP INT; echo ready > ready; while :; do sleep 0.05; done";
      const output = await place.run(['exec', '--', 'sh', '-c', script], {
        during: async (child) => {
          while (!place.exists('ready')) await new Promise((resolve) => setTimeout(resolve, 20));
          child.kill(signal);
        },
      });
      expect(output.status).toBe(3);
      expect(place.exists('caught')).toBe(true);
      const [operation] = await place.json(['operations']);
      expect(operation).toMatchObject({ status: 'interrupted', changed_count: 2 });
      await place.ok(['undo', '--yes']);
      expect(place.tree()).toEqual([]);
    },
  );

  test('leaves Ctrl-C at a terminal to the command, which gets it once', async () => {
    const place = cliSandbox();
    const script =
      "trap 'echo caught >> caught' INT; echo GO; i=0; while [ ! -e caught ] && [ $i -lt 200 ]; do sleep 0.05; i=$((i+1)); done; sleep 0.3; exit 5";
    const output = await place.terminal(['exec', '--', 'sh', '-c', script], [['GO', '\u0003']]);
    expect(output.status).toBe(5);
    expect(place.read('caught')).toBe('caught\n');
    expect((await place.json(['operations']))[0].status).toBe('interrupted');
  });

  test('runs in the current directory and protects the whole workspace', async () => {
    const place = cliSandbox();
    await place.ok(['init']);
    mkdirSync(join(place.work, 'sub'));
    const out = await place.ok(['exec', '-q', '--', 'sh', '-c', 'pwd; echo x > ../top'], {
      cwd: join(place.work, 'sub'),
    });
    expect(out.trim()).toBe(join(place.work, 'sub'));
    await place.ok(['undo', '--yes']);
    expect(place.exists('top')).toBe(false);
  });

  test('--every takes checkpoints meanwhile', async () => {
    const place = cliSandbox();
    const script = 'for i in 1 2 3; do echo $i > a; sleep 0.4; done';
    await place.ok(['exec', '-q', '--session', 's', '--every', '0.2', '--', 'sh', '-c', script]);
    expect((await place.json(['checkpoints', 'list', '--session', 's'])).length).toBeGreaterThan(2);
  });
});
