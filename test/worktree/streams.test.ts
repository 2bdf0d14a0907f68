import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BIN } from '../support/cli-sandbox.ts';
import { tmux } from '../support/tmux.ts';
import { worktreeScene } from '../support/worktree-scene.ts';

const waiting = (path: string) => async () => {
  while (!existsSync(path)) await new Promise((resolve) => setTimeout(resolve, 20));
};

describe('waymark exec --worktree and the world around it', () => {
  test('standard input reaches the command alone, and standard output is the command’s alone', async () => {
    const place = worktreeScene();
    place.write('waymark.toml', '[worktree]\nsetup = "cat; echo noise; echo set up > set-up"\n');
    await place.ok(['trust']);
    const { status, stdout, stderr } = await place.run(
      ['exec', '--worktree', '--name', 'fix', '--', 'sh', '-c', 'cat; cat set-up'],
      {
        input: 'hello\n',
      },
    );
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'hello\nset up\n' });
    expect(stderr).toContain('noise\n');
  });

  test('-f json says what became of it in one line on standard error', async () => {
    const place = worktreeScene();
    const { stdout, stderr } = await place.run([
      'exec',
      '-f',
      'json',
      '--worktree',
      '--name',
      'fix',
      '--',
      'sh',
      '-c',
      'echo out; echo x > x; exit 5',
    ]);
    expect(stdout).toBe('out\n');
    const said = JSON.parse(stderr.trim().split('\n').at(-1) ?? '');
    expect(said).toMatchObject({
      run_id: 'fix',
      exit_status: 5,
      changes: [{ path: 'x', action: 'create' }],
      worktree: {
        path: place.worktree('fix'),
        branch: 'waymark/fix',
        outcome: 'failed',
        kept: false,
        reasons: [],
      },
    });
    expect(said.worktree.final_checkpoint_id).toBe(said.after);
  });

  test.each(['SIGTERM', 'SIGHUP', 'SIGINT'] as const)(
    '%s is the command’s, and its worktree is kept',
    async (signal) => {
      const place = worktreeScene();
      const before = place.untouched();
      const script =
        "trap 'echo caught > caught; exit 3' TERM HUP INT; touch ready; while :; do sleep 0.05; done";
      const output = await place.run(['exec', '--worktree', '--name', 'fix', '--', 'sh', '-c', script], {
        during: async (child) => {
          await waiting(place.worktree('fix', 'ready'))();
          child.kill(signal);
        },
      });
      expect(output.status).toBe(3);
      expect(place.readIn('fix', 'caught')).toBe('caught\n');
      expect(output.stderr).toContain('kept (the run was interrupted)');
      expect(output.stderr).toContain('exec --worktree --resume fix');
      expect(await place.json(['worktree', 'list'])).toMatchObject([
        { state: 'kept', run_status: 'interrupted' },
      ]);
      before.same(['fix']);
    },
  );

  test('death by a signal is 128 + n, and kept', async () => {
    const place = worktreeScene();
    expect(
      (await place.run(['exec', '-q', '--worktree', '--name', 'fix', '--', 'sh', '-c', 'kill -KILL $$']))
        .status,
    ).toBe(137);
    expect(await place.json(['worktree', 'list'])).toMatchObject([
      { state: 'kept', run_status: 'interrupted' },
    ]);
  });

  test('a signal while it is set up stops that; the worktree is kept, and set up when it is resumed', async () => {
    const place = worktreeScene();
    place.write('waymark.toml', '[worktree]\nsetup = "touch begun; test -e quick || sleep 20; touch done"\n');
    await place.ok(['trust']);
    const output = await place.run(['exec', '--worktree', '--name', 'fix', '--', 'touch', 'ran'], {
      during: async (child) => {
        await waiting(place.worktree('fix', 'begun'))();
        child.kill('SIGTERM');
      },
    });
    expect(output.status).toBe(130);
    expect(output.stderr).toContain('kept (the run was interrupted)');
    expect(existsSync(place.worktree('fix', 'done'))).toBe(false);
    expect(existsSync(place.worktree('fix', 'ran'))).toBe(false);
    writeFileSync(place.worktree('fix', 'quick'), '');
    await place.ok(['exec', '-q', '--worktree', '--resume', 'fix', '--', 'touch', 'ran']);
    for (const name of ['done', 'ran']) expect(existsSync(place.worktree('fix', name))).toBe(true);
    const diff = await place.json(['worktree', 'diff', 'fix']);
    expect(diff.changes.map(({ path }: { path: string }) => path)).toEqual(['ran']);
  });

  test('the setup command is run once, in the counterpart of the workspace, and only where it is trusted', async () => {
    const place = worktreeScene();
    place.write('waymark.toml', '[worktree]\nsetup = "pwd >> log"\n');
    const untrusted = await place.run(['exec', '--worktree', '--name', 'one', '--', 'true']);
    expect(untrusted.status).toBe(0);
    expect(untrusted.stderr).toContain('worktree.setup');
    expect(existsSync(place.worktree('one', 'log'))).toBe(false);
    await place.ok(['trust']);
    await place.agent('two', 'true');
    await place.ok(['exec', '-q', '--worktree', '--resume', 'two', '--', 'true']);
    expect(place.readIn('two', 'log')).toBe(`${place.worktree('two')}\n`);
    place.write('sub/waymark.toml', '[worktree]\nsetup = "pwd > ../log"\n');
    place.git('add', 'sub');
    place.git('commit', '-qm', 'sub');
    await place.ok(['trust', '--workspace', 'sub']);
    await place.ok(['exec', '-q', '--worktree', '--name', 'three', '--workspace', 'sub', '--', 'true']);
    expect(place.readIn('three', 'log')).toBe(`${place.worktree('three', 'sub')}\n`);
  });

  test.each([
    ['leaves nothing', 'exit 3', false, ''],
    ['leaves an untracked file', 'echo x > x; exit 3', false, ''],
    ['leaves a secret', 'echo x > .env; exit 3', true, 'secret'],
  ])('a setup command that fails and %s', async (_, setup, kept, reason) => {
    const place = worktreeScene();
    const before = place.untouched();
    const env = { WAYMARK_WORKTREE_SETUP: setup };
    const output = await place.run(['exec', '--worktree', '--name', 'fix', '--', 'touch', 'ran'], { env });
    expect(output.status).toBe(125);
    expect(output.stderr).toContain(`[worktree] setup "${setup}" exited with status 3`);
    expect(output.stderr).toContain(kept ? 'kept (the run failed)' : 'were removed');
    expect(output.stderr).toContain(reason);
    expect(existsSync(place.worktree('fix'))).toBe(kept);
    before.same(kept ? ['fix'] : []);
  });

  test('a full-screen program works at a terminal, and Ctrl-C is its own', async () => {
    const place = worktreeScene();
    writeFileSync(
      join(place.work, 'long.txt'),
      Array.from({ length: 200 }, (_, at) => `line ${at + 1}\n`).join(''),
    );
    place.commit('long');
    const screen = tmux(place.base, place.work, place.env);
    await screen.shows('ready>');
    screen.keys(
      `${process.execPath} ${BIN} exec --worktree --name pager -- less long.txt; echo status=$?`,
      'Enter',
    );
    await screen.shows('line 29');
    screen.keys('G');
    await screen.shows('line 200');
    screen.keys('C-c');
    screen.keys('g');
    const top = await screen.shows('line 1\n');
    expect(top).not.toContain('waymark:');
    screen.keys('q');
    const after = await screen.shows('status=0');
    expect(after).toContain('kept');
    expect(after).not.toContain('line 29\n');
    screen.keys('clear', 'Enter');
    await screen.shows('status=', false);
    screen.keys(
      `${process.execPath} ${BIN} exec --worktree --name editor -- vi g.txt; echo status=$?`,
      'Enter',
    );
    await screen.shows(/gee[\s\S]*g\.txt/);
    screen.keys('o', 'typed', 'Escape', ':wq', 'Enter');
    await screen.shows('status=0');
    expect(place.readIn('editor', 'g.txt')).toBe('gee\ntyped\n');
    expect(readFileSync(join(place.work, 'g.txt'), 'utf8')).toBe('gee\n');
  });

  test('at a terminal, apply shows the plan and asks', async () => {
    const place = worktreeScene();
    await place.agent('fix', 'echo new > new');
    const no = await place.terminal(['worktree', 'apply', 'fix'], [['Change 1 path', 'n']]);
    expect(no.status).toBe(4);
    expect(place.exists('new')).toBe(false);
    const yes = await place.terminal(['worktree', 'apply', 'fix'], [['Change 1 path', 'y']]);
    expect(yes.status).toBe(0);
    expect(yes.stdout).toContain('Applied run fix: 1 path');
    expect(place.read('new')).toBe('new\n');
    const scripted = await place.run(['worktree', 'apply', 'fix']);
    expect(scripted.status).toBe(0);
    place.write('new', 'gone\n');
    await place.ok(['undo', '--yes', '--force']);
    expect((await place.run(['worktree', 'apply', 'fix'])).status).toBe(4);
  });

  test('apply: conflicts end with status 5', async () => {
    const place = worktreeScene();
    await place.agent('fix', 'echo theirs > g.txt; echo new > new');
    place.write('g.txt', 'ours\n');
    const applied = await place.json(['worktree', 'apply', 'fix', '--yes'], { status: 5 });
    expect(applied).toMatchObject({
      run_id: 'fix',
      changes: [{ path: 'new', action: 'create' }],
      skipped: [{ path: 'g.txt', reason: 'conflict' }],
      merged: [],
      rollback_summary: { restored_files_count: 1 },
    });
    await place.ok(['worktree', 'apply', 'fix', '--yes', '--', 'new']);
  });
});
