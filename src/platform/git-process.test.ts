import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createGit } from './git-process.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'waymark-git-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const { PATH } = process.env;

async function repository(name = 'repo'): Promise<string> {
  const root = join(dir, name);
  mkdirSync(root);
  await createGit({ PATH }).run({ args: ['init', '-q', root], isolated: true });
  return root;
}

test('run() removes every inherited GIT_ variable', async () => {
  const victim = join(await repository('victim'), '.git');
  const other = await repository('other');
  const git = createGit({ PATH, GIT_DIR: victim, GIT_INDEX_FILE: join(victim, 'index'), git_dir: victim });
  const { stdout } = await git.run({ args: ['rev-parse', '--absolute-git-dir'], cwd: other });
  expect(stdout.toString().trim()).toBe(join(other, '.git'));
});

test('run() takes output beyond any buffer limit and input from an iterable', async () => {
  const gitDir = join(await repository(), '.git');
  const git = createGit({ PATH });
  async function* pieces() {
    for (let at = 0; at < 64; at += 1) yield Buffer.alloc(256 * 1024, at);
  }
  const hash = await git.run({
    args: ['hash-object', '-w', '--stdin'],
    gitDir,
    isolated: true,
    input: pieces(),
  });
  const out = await git.run({
    args: ['cat-file', 'blob', hash.stdout.toString().trim()],
    gitDir,
    isolated: true,
  });
  expect(out.stdout.length).toBe(16 * 1024 * 1024);
  expect(out.stdout[out.stdout.length - 1]).toBe(63);
});

test('run() throws GIT_FAILED with the exit code, and lets allowed ones pass', async () => {
  const git = createGit({ PATH });
  const command = { args: ['rev-parse', '--git-dir'], cwd: dir, gitDir: join(dir, 'none') };
  await expect(git.run(command)).rejects.toMatchObject({ code: 'GIT_FAILED', details: { exit_code: 128 } });
  const { exitCode, stderr } = await git.run({ ...command, allowExitCodes: [128] });
  expect(exitCode).toBe(128);
  expect(stderr).toContain('not a git repository');
});

test('run() throws what its input throws', async () => {
  async function* broken() {
    yield Buffer.from('x');
    throw new Error('reading failed');
  }
  const git = createGit({ PATH });
  await expect(git.run({ args: ['hash-object', '--stdin'], input: broken() })).rejects.toThrow(
    'reading failed',
  );
});

test('IC-10: git that is not there gives GIT_NOT_FOUND with a hint that cas works', async () => {
  const git = createGit({ PATH: dir });
  await expect(git.version()).rejects.toMatchObject({
    code: 'GIT_NOT_FOUND',
    hint: expect.stringContaining('cas'),
  });
});

test('run() never takes git from a relative PATH entry', async () => {
  writeFileSync(join(dir, 'git'), `#!/bin/sh\ntouch "${dir}/marker"\n`);
  chmodSync(join(dir, 'git'), 0o755);
  const git = createGit({ PATH: `.::${PATH}` });
  await git.run({ args: ['version'], cwd: dir });
  expect(existsSync(join(dir, 'marker'))).toBe(false);
});

test('a missing working directory is not taken for a missing git', async () => {
  const git = createGit({ PATH });
  await expect(git.run({ args: ['version'], cwd: join(dir, 'gone') })).rejects.toMatchObject({
    code: 'IO_ERROR',
  });
});

test('run() runs no fsmonitor and no hook of the repository it reads', async () => {
  const root = await repository();
  const git = createGit({ PATH, HOME: dir });
  const marker = join(dir, 'marker');
  const program = join(dir, 'evil');
  writeFileSync(program, `#!/bin/sh\ntouch "${marker}"\n`);
  chmodSync(program, 0o755);
  await git.run({ args: ['config', 'core.fsmonitor', program], cwd: root });
  writeFileSync(join(root, 'a'), 'a');
  await git.run({ args: ['ls-files', '-z', '--others'], cwd: root });
  await git.run({ args: ['status', '--porcelain'], cwd: root });
  expect(existsSync(marker)).toBe(false);
});

test('start() keeps a process for many questions', async () => {
  const gitDir = join(await repository(), '.git');
  const git = createGit({ PATH });
  const child = git.start({ args: ['cat-file', '--batch-check'], gitDir, isolated: true });
  const answers: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => answers.push(chunk));
  child.stdin.write(`${'0'.repeat(40)}\n`);
  child.stdin.end(`${'1'.repeat(40)}\n`);
  expect((await child.ended).exitCode).toBe(0);
  expect(
    Buffer.concat(answers)
      .toString()
      .match(/missing/g),
  ).toHaveLength(2);
});

test('run() stops on its signal with INTERRUPTED', async () => {
  const git = createGit({ PATH });
  async function* endless() {
    for (;;) {
      yield Buffer.from('x');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
  const running = git.run({
    args: ['hash-object', '--stdin'],
    input: endless(),
    signal: AbortSignal.timeout(50),
  });
  await expect(running).rejects.toMatchObject({ code: 'INTERRUPTED' });
});
