import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cliSandbox } from '../support/cli-sandbox.ts';
import { SIX, worktreeScene } from '../support/worktree-scene.ts';

describe('waymark exec --worktree', () => {
  test('runs apart from the checkout, keeps the worktree, and says where it is and what to do with it', async () => {
    const place = worktreeScene();
    const before = place.untouched();
    const script =
      'pwd; git branch --show-current; echo new > new.txt; echo gone > g.txt; git config --list --local >&2';
    const { status, stdout, stderr } = await place.run(['exec', '--worktree', '--', 'sh', '-c', script]);
    expect(status).toBe(0);
    const [path = '', branch = ''] = stdout.split('\n');
    const run = branch.replace('waymark/', '');
    expect(run).toMatch(/^exec-[0-9a-z]{26}$/);
    expect(path).toBe(place.worktree(run));
    expect(readFileSync(join(path, 'new.txt'), 'utf8')).toBe('new\n');
    before.same([run]);
    expect(stderr).toContain(`kept: ${path} on branch ${branch}`);
    for (const next of ['diff', 'apply', 'remove'])
      expect(stderr).toContain(`waymark worktree ${next} ${run}\n`);
    expect(stderr).toMatch(/2 paths changed: 1 created, 1 modified/);
  });

  test('its checkpoints belong to the worktree, name the run, and lie in the session', async () => {
    const place = worktreeScene();
    await place.agent('fix', 'echo new > new.txt', '--session', 'nightly');
    const path = place.worktree('fix');
    const checkpoints = await place.json(['checkpoints', 'list', '--all', '--session', 'nightly']);
    expect(checkpoints.map((one: { checkpoint_type: string }) => one.checkpoint_type)).toEqual([
      'post_step',
      'run_start',
    ]);
    for (const one of checkpoints) expect(one.workspace).toBe(path);
    expect(await place.json(['checkpoints', 'list', '--all', '--run', 'fix'])).toHaveLength(2);
    expect(await place.json(['checkpoints', 'list'])).toEqual([]);
    const [operation] = await place.json(['operations', '--workspace', path]);
    expect(operation).toMatchObject({ kind: 'run', run_id: 'fix', session_id: 'nightly', status: 'done' });
    await place.ok(['undo', '--yes', '--workspace', path]);
    expect(existsSync(join(path, 'new.txt'))).toBe(false);
  });

  test('exports session and run, and works in the counterpart of the current directory', async () => {
    const place = worktreeScene();
    const out = await place.ok(
      [
        'exec',
        '-q',
        '--worktree',
        '--name',
        'fix',
        '--session',
        's1',
        '--',
        'sh',
        '-c',
        'pwd; echo $PWD; echo $WAYMARK_SESSION $WAYMARK_RUN',
      ],
      { cwd: join(place.work, 'sub') },
    );
    const inside = place.worktree('fix', 'sub');
    expect(out).toBe(`${inside}\n${inside}\ns1 fix\n`);
  });

  test.each([
    [0, 'kept', 'done'],
    [3, 'removed', 'done'],
    [130, 'kept', 'interrupted'],
    [143, 'kept', 'interrupted'],
  ] as const)('status %d passes through; the worktree is %s', async (code, fate, status) => {
    const place = worktreeScene();
    const before = place.untouched();
    const output = await place.run([
      'exec',
      '--worktree',
      '--name',
      'fix',
      '--',
      'sh',
      '-c',
      `echo x > x; exit ${code}`,
    ]);
    expect(output.status).toBe(code);
    const listed = await place.json(['worktree', 'list']);
    expect(listed.map((one: { state: string; run_status: string }) => [one.state, one.run_status])).toEqual(
      fate === 'kept' ? [['kept', status]] : [],
    );
    expect(existsSync(place.worktree('fix'))).toBe(fate === 'kept');
    before.same(fate === 'kept' ? ['fix'] : []);
    if (fate === 'removed') expect(existsSync(join(place.work, '.waymark'))).toBe(false);
  });

  test('a run that fails is removed once a checkpoint holds its final state, which can be had again', async () => {
    const place = worktreeScene();
    const script =
      "echo new > new.txt; printf 'A\\n' > a.txt; rm g.txt; mkdir d; ln -s ../a.txt d/link; exit 9";
    const { status, stderr } = await place.run([
      'exec',
      '--worktree',
      '--name',
      'fix',
      '--',
      'sh',
      '-c',
      script,
    ]);
    expect(status).toBe(9);
    expect(stderr).toContain('branch waymark/fix were removed');
    const id = /final state is checkpoint (\w+)/.exec(stderr)?.[1] ?? '';
    const into = join(place.base, 'again');
    await place.ok(['checkpoints', 'restore', id, '--into', into, '--yes']);
    expect(readdirSync(into).sort()).toEqual(['a.txt', 'd', 'new.txt', 'sub']);
    expect(readFileSync(join(into, 'a.txt'), 'utf8')).toBe('A\n');
    expect(place.git('branch', '--list', 'waymark/*')).toBe('');
    expect((await place.json(['checkpoints', 'show', id])).pinned).toBe(false);
  });

  test.each([
    ['ignored files', 'echo build > out.log', /1 ignored file/],
    ['a secret', 'echo S=1 > .env.local', /secret/],
    [
      'a commit',
      'git -c user.name=x -c user.email=x commit -q --allow-empty -m x',
      /1 commit is on waymark\/fix only/,
    ],
    [
      'a detached commit',
      'git checkout -q --detach; git -c user.name=x -c user.email=x commit -q --allow-empty -m x',
      /on no branch/,
    ],
    ['a file over a limit', 'head -c 9000000 /dev/zero > big.bin', /partial: big.bin/],
    [
      'an untracked file that no checkpoint covers',
      'mkdir build; echo x > build/x',
      /does not hold build\/x/,
    ],
    ['a repository of its own', 'git init -q inner; echo x > inner/x', /1 repository in it has work/],
    ['a process that goes on', 'sleep 30 >/dev/null 2>&1 & echo x > x', /Processes work in it/],
  ])('a run that fails and leaves %s is kept, and the reason said', async (_, script, reason) => {
    const place = worktreeScene();
    place.write('.gitignore', '*.log\n');
    place.commit('ignore');
    const { status, stderr } = await place.run([
      'exec',
      '--worktree',
      '--name',
      'fix',
      '--',
      'sh',
      '-c',
      `${script}; exit 1`,
    ]);
    expect(status).toBe(1);
    expect(stderr).toContain('kept (the run failed)');
    expect(stderr).toMatch(reason);
    expect(await place.json(['worktree', 'list'])).toMatchObject([{ run_id: 'fix', state: 'kept' }]);
    if (script.startsWith('sleep')) {
      for (const pid of readdirSync('/proc'))
        if (worksIn(pid, place.worktree('fix'))) process.kill(Number(pid));
    }
  });

  test('--keep keeps it; so does having been there before', async () => {
    const place = worktreeScene();
    await place.ok(['exec', '-q', '--worktree', '--name', 'fix', '--keep', '--', 'false'], { status: 1 });
    expect(existsSync(place.worktree('fix'))).toBe(true);
    await place.ok(
      ['exec', '-q', '--worktree', '--resume', 'fix', '--', 'sh', '-c', 'echo more > more; exit 4'],
      { status: 4 },
    );
    expect(place.readIn('fix', 'more')).toBe('more\n');
  });

  test('seeded files that are as they were brought are no reason to keep it; changed ones are', async () => {
    const place = worktreeScene();
    place.write('.gitignore', 'local.cfg\n.env\n');
    place.write('.worktreeinclude', 'local.cfg\n.env\n');
    place.commit('include');
    place.write('local.cfg', 'mine\n');
    place.write('.env', 'S=1\n');
    await place.ok(
      ['exec', '-q', '--worktree', '--name', 'one', '--', 'sh', '-c', 'cat .env local.cfg; exit 2'],
      { status: 2 },
    );
    expect(existsSync(place.worktree('one'))).toBe(false);
    const { stderr } = await place.run([
      'exec',
      '--worktree',
      '--name',
      'two',
      '--',
      'sh',
      '-c',
      'echo S=2 > .env; exit 2',
    ]);
    expect(stderr).toMatch(/secret/);
    expect(place.readIn('two', '.env')).toBe('S=2\n');
    expect(place.read('.env')).toBe('S=1\n');
  });

  test('WT-03: starts from the HEAD that is checked out; --with-changes brings what is not committed', async () => {
    const place = worktreeScene();
    place.git('checkout', '-q', '-b', 'dev');
    place.write('dev.txt', 'dev\n');
    const tip = place.commit('dev');
    place.write('g.txt', 'dirty\n');
    place.write('un/tracked', 'untracked\n');
    const before = place.untouched();
    await place.agent('plain', 'true');
    expect(place.gitIn(place.worktree('plain'), 'rev-parse', 'HEAD')).toBe(tip);
    expect(place.readIn('plain', 'g.txt')).toBe('gee\n');
    await place.agent('dirty', 'echo from-run > mine', '--with-changes');
    expect(place.readIn('dirty', 'g.txt')).toBe('dirty\n');
    expect(place.readIn('dirty', 'un/tracked')).toBe('untracked\n');
    before.same(['plain', 'dirty']);
    const diff = await place.json(['worktree', 'diff', 'dirty']);
    expect(diff.changes.map((change: { path: string }) => change.path)).toEqual(['mine']);
  });

  test('WT-05: a taken name is refused with its place, --resume goes on in it, default names are unique', async () => {
    const place = worktreeScene();
    await place.agent('x', 'echo 1 > 1');
    const again = await place.json(['exec', '--worktree', '--name', 'x', '--', 'true'], { status: 125 });
    expect(again.error).toMatchObject({ code: 'BRANCH_IN_USE', details: { path: place.worktree('x') } });
    place.git('branch', 'waymark/taken');
    const taken = await place.json(['exec', '--worktree', '--name', 'taken', '--', 'true'], { status: 125 });
    expect(taken.error.code).toBe('BRANCH_IN_USE');
    await place.ok([
      'exec',
      '-q',
      '--worktree',
      '--resume',
      'x',
      '--',
      'sh',
      '-c',
      'test -e 1 && echo 2 > 2',
    ]);
    expect(place.readIn('x', '2')).toBe('2\n');
    for (const _ of [1, 2]) await place.ok(['exec', '-q', '--worktree', '--', 'true']);
    expect(await place.json(['worktree', 'list'])).toHaveLength(3);
    const unknown = await place.json(['exec', '--worktree', '--resume', 'y', '--', 'true'], { status: 125 });
    expect(unknown.error.code).toBe('RUN_NOT_FOUND');
  });

  test.each([
    ['outside of a repository', [], 'NOT_A_REPOSITORY'],
    ['in a repository without commits', [['init', '-q']], 'REPOSITORY_UNSUPPORTED'],
    ['in a bare repository', [['init', '-q', '--bare', '.']], 'REPOSITORY_UNSUPPORTED'],
  ] as const)('%s it fails at once, with nothing left behind', async (_, commands, code) => {
    const place = cliSandbox();
    for (const args of commands) execFileSync('git', args, { cwd: place.work });
    place.write('file', 'x');
    const before = place.tree();
    const failed = await place.json(['exec', '--worktree', '--session', 's', '--', 'touch', 'made'], {
      status: 125,
    });
    expect(failed.error.code).toBe(code);
    expect(place.tree()).toEqual(before);
    expect(await place.json(['operations'])).toEqual([]);
    expect(await place.json(['checkpoints', 'list', '--all'])).toEqual([]);
    const session = await place.json(['checkpoints', 'list', '--all', '--session', 's']);
    expect(session).toEqual([]);
  });

  test.each([
    [['--name', '../x'], 125, 'VALIDATION_ERROR'],
    [['--session', '../x'], 125, 'VALIDATION_ERROR'],
    [['--name', 'a', '--resume', 'b'], 125, 'VALIDATION_ERROR'],
    [['--resume', 'b', '--with-changes'], 125, 'VALIDATION_ERROR'],
  ])('%j is refused before anything is made', async (more, status, code) => {
    const place = worktreeScene();
    const before = place.untouched();
    const failed = await place.json(['exec', '--worktree', ...more, '--', 'true'], { status });
    expect(failed.error.code).toBe(code);
    before.same([]);
    expect(existsSync(join(place.work, '.waymark'))).toBe(false);
  });

  test.each(['--name=x', '--resume=x', '--keep', '--with-changes'])(
    '%s says nothing without --worktree',
    async (option) => {
      const place = worktreeScene();
      const output = await place.run(['exec', option, '--', 'touch', 'made']);
      expect(output.status).toBe(125);
      expect(output.stderr).toContain('is about a worktree');
      expect(place.exists('made')).toBe(false);
    },
  );

  test('a program that is named by a path is the one in the worktree; where there is none, nothing stays', async () => {
    const place = worktreeScene();
    place.write('tool.sh', '#!/bin/sh\necho committed\n', 0o755);
    place.commit('tool');
    place.write('tool.sh', '#!/bin/sh\necho dirty\n');
    place.write('untracked.sh', '#!/bin/sh\n', 0o755);
    expect(await place.ok(['exec', '-q', '--worktree', '--', './tool.sh'])).toBe('committed\n');
    const before = place.untouched();
    expect((await place.run(['exec', '--worktree', '--name', 'x', '--', './untracked.sh'])).status).toBe(127);
    expect(existsSync(place.worktree('x'))).toBe(false);
    before.same([]);
    expect((await place.run(['exec', '--worktree', '--name', 'y', '--', 'no-such-program'])).status).toBe(
      127,
    );
    expect(await place.json(['worktree', 'list'])).toHaveLength(1);
  });

  test('RE-02: variables of a git hook do not lead the command to the checkout', async () => {
    const place = worktreeScene();
    const before = place.untouched();
    const script =
      'echo x > x; git add x; git -c user.name=x -c user.email=x commit -q -m x; git rev-parse --show-toplevel';
    const env = {
      GIT_DIR: join(place.work, '.git'),
      GIT_INDEX_FILE: join(place.work, '.git/index'),
      GIT_WORK_TREE: place.work,
    };
    const out = await place.ok(['exec', '-q', '--worktree', '--name', 'fix', '--', 'sh', '-c', script], {
      env,
    });
    expect(out.trim()).toBe(place.worktree('fix'));
    before.same(['fix'], { commits: true });
    expect(place.git('log', '--format=%s', 'waymark/fix')).toBe('x\nfirst');
  });

  test('SE-06: no program that the repository configures runs, from the creation to the removal', async () => {
    const place = worktreeScene();
    const marker = join(place.base, 'pwn');
    place.write('.gitattributes', '* filter=evil diff=evil\n');
    place.commit('attributes');
    const evil = join(place.base, 'evil.sh');
    writeFileSync(evil, `#!/bin/sh\ntouch ${marker}\ncat\n`);
    chmodSync(evil, 0o755);
    const hooks = join(place.base, 'hooks');
    mkdirSync(hooks);
    for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change']) {
      writeFileSync(join(hooks, hook), `#!/bin/sh\ntouch ${marker}\n`);
      chmodSync(join(hooks, hook), 0o755);
    }
    for (const [key, value] of [
      ['filter.evil.smudge', evil],
      ['filter.evil.clean', evil],
      ['filter.evil.process', evil],
      ['diff.evil.textconv', evil],
      ['diff.external', evil],
      ['core.fsmonitor', evil],
      ['core.hooksPath', hooks],
    ] as const) {
      place.git('config', key, value);
    }
    const before = place.untouched();
    place.write('g.txt', 'dirty\n');
    await place.agent('fix', 'echo new > new; echo A > a.txt', '--with-changes');
    await place.ok(['worktree', 'list']);
    await place.ok(['worktree', 'diff', 'fix', '--patch']);
    await place.ok(['worktree', 'apply', 'fix', '--dry-run']);
    await place.ok(['worktree', 'remove', '--force', 'fix']);
    place.write('g.txt', 'gee\n');
    before.same([]);
    await place.agent('fix', 'echo new > new');
    await place.ok(['worktree', 'apply', 'fix', '--yes']);
    expect(existsSync(marker)).toBe(false);
  });

  test('runs in worktrees of two repositories may have one name, at one time', async () => {
    const [one, two] = [worktreeScene(), worktreeScene()];
    const env = { WAYMARK_HOME: one.home };
    const script = 'touch ready; while [ ! -e go ]; do sleep 0.05; done';
    const first = one.run(['exec', '-q', '--worktree', '--name', 'fix', '--', 'sh', '-c', script]);
    while (!existsSync(one.worktree('fix', 'ready'))) await new Promise((resolve) => setTimeout(resolve, 20));
    await two.ok(['exec', '-q', '--worktree', '--name', 'fix', '--', 'true'], { env });
    expect(await two.json(['worktree', 'list'], { env })).toMatchObject([{ run_id: 'fix', state: 'kept' }]);
    expect(await one.json(['worktree', 'list'])).toMatchObject([
      { run_id: 'fix', state: 'active', run_status: 'open' },
    ]);
    const busy = await one.json(['exec', '--worktree', '--resume', 'fix', '--', 'true'], { status: 125 });
    expect(busy.error.code).toBe('RUN_ACTIVE');
    expect((await one.json(['worktree', 'remove', '--force', 'fix'], { status: 4 })).error.code).toBe(
      'RUN_ACTIVE',
    );
    expect((await one.json(['worktree', 'apply', 'fix', '--yes'], { status: 4 })).error.code).toBe(
      'RUN_ACTIVE',
    );
    writeFileSync(one.worktree('fix', 'go'), '');
    expect((await first).status).toBe(0);
  });

  test('the checkout can be restored and run in while a run goes on in a worktree', async () => {
    const place = worktreeScene();
    const script = 'touch ready; while [ ! -e go ]; do sleep 0.05; done';
    await place.ok(['checkpoints', 'create']);
    const run = place.run(['exec', '-q', '--worktree', '--name', 'fix', '--', 'sh', '-c', script]);
    while (!existsSync(place.worktree('fix', 'ready')))
      await new Promise((resolve) => setTimeout(resolve, 20));
    await place.ok(['exec', '-q', '--', 'sh', '-c', 'echo here > here']);
    await place.ok(['checkpoints', 'restore', '@~1', '--yes']);
    expect(place.exists('here')).toBe(false);
    expect(place.read('a.txt')).toBe(SIX);
    writeFileSync(place.worktree('fix', 'go'), '');
    expect((await run).status).toBe(0);
  });
});

function worksIn(pid: string, path: string): boolean {
  if (!/^\d+$/.test(pid)) return false;
  try {
    return (
      execFileSync('readlink', [`/proc/${pid}/cwd`])
        .toString()
        .trim() === path && pid !== String(process.pid)
    );
  } catch {
    return false;
  }
}
