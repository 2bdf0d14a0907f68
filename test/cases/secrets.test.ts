import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { StepHook } from '../../src/platform/file-system.ts';
import { createGit } from '../../src/platform/git-process.ts';
import { noise } from '../suites/drafts.ts';
import { BIN, cliSandbox } from '../support/cli-sandbox.ts';
import { readText, writeFiles } from '../support/files.ts';
import { openSandbox, sandbox } from '../support/sandbox.ts';
import { placesOf } from '../support/stored-content.ts';
import { goBack, take } from '../support/take.ts';
import { treeListing } from '../support/tree-listing.ts';

const engines = ['cas', 'git'] as const;

/** Content that would be found in a store, compressed or not. */
const secret = (n: number): Buffer => noise(4000, 1000 + n);

const SECRETS = [
  '.env',
  '.env.production',
  '.ENV',
  '.envrc',
  'id_ed25519',
  'id_rsa',
  'id_rsa.pub',
  'x.pem',
  'SERVER.PEM',
  'tls.key',
  'credentials.json',
  'Credentials.JSON',
  'sub/.env',
  'sub/deep/y.key',
];

describe.each(engines)('secrets, engine %s', (engine) => {
  test('SE-04: secrets are observed, never stored, never deleted, whatever git tracks or settings include', async () => {
    const place = sandbox();
    const git = createGit(place.environment);
    writeFiles(place.workspace, Object.fromEntries(SECRETS.map((name, n) => [name, secret(n)])));
    writeFiles(place.workspace, {
      plain: secret(99),
      'waymark.toml': '[scope]\ninclude = [".env", "*.pem", "sub/**"]\n',
      '.gitignore': '!.env\n!*.pem\n',
    });
    await git.run({ args: ['init', '-q'], cwd: place.workspace });
    await git.run({ args: ['add', '-f', '.'], cwd: place.workspace });
    const { workspace } = await openSandbox(place);
    const { checkpoint } = await workspace.createCheckpoint({ engine });
    expect(checkpoint?.coverage.status).toBe('complete');
    const observed = checkpoint?.coverage.skipped
      .filter(({ reason }) => reason === 'secret')
      .map((skip) => skip.path);
    expect(observed?.toSorted()).toEqual(SECRETS.toSorted());
    expect(placesOf(place.home, secret(99)).length).toBeGreaterThan(0);
    for (const [n] of SECRETS.entries()) expect(placesOf(place.home, secret(n)), SECRETS[n]).toEqual([]);
    for (const name of SECRETS) writeFileSync(path.join(place.workspace, name), `changed ${name}`);
    writeFiles(place.workspace, { plain: 'changed', 'later/.env': 'later', 'later/z.pem': 'later' });
    const secrets = () =>
      treeListing(place.workspace, ['.git']).filter((line) => /env|pem|key|id_|credentials/i.test(line));
    const before = secrets();
    await goBack(workspace, checkpoint?.id ?? '');
    expect(secrets()).toEqual(before);
    expect(readFileSync(path.join(place.workspace, 'plain')).equals(secret(99))).toBe(true);
    await goBack(workspace, checkpoint?.id ?? '', ['.env', 'sub']);
    expect(secrets()).toEqual(before);
    rmSync(path.join(place.workspace, 'sub'), { recursive: true });
    await goBack(workspace, checkpoint?.id ?? '');
    expect(existsSync(path.join(place.workspace, 'sub/.env'))).toBe(false);
    await expect(Array.fromAsync(workspace.cat(checkpoint?.id ?? '', '.env'))).rejects.toMatchObject({
      message: expect.stringContaining('.env'),
    });
  });

  test('SE-04: nothing of a secret reaches a run, a patch, a diff or an undo', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { a: 'v1', '.env': secret(1) });
    const id = await take(workspace, { engine });
    await workspace.run({ engine }, async () => {
      writeFiles(place.workspace, { a: 'v2', '.env': secret(2), 'b.pem': secret(3) });
    });
    expect((await workspace.diff({ from: id })).changes.map((change) => change.path)).toEqual(['a']);
    expect((await Array.fromAsync(workspace.patch({ from: id }))).join('')).not.toMatch(/env|pem/);
    await workspace.undo({ confirm: 'always' });
    expect(readText(place.workspace, 'a')).toBe('v1');
    expect(readFileSync(path.join(place.workspace, '.env')).equals(secret(2))).toBe(true);
    expect(existsSync(path.join(place.workspace, 'b.pem'))).toBe(true);
    for (const n of [1, 2, 3]) expect(placesOf(place.home, secret(n))).toEqual([]);
  });

  test('SE-04: purge takes a path out of every checkpoint and its bytes off the disk', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      writeFiles(place.workspace, { 'conf/token.txt': secret(n), 'conf/other': noise(4000, n), a: `${n}` });
      ids.push(await take(workspace, { engine }));
    }
    for (const n of [0, 1, 2]) expect(placesOf(place.home, secret(n)).length).toBeGreaterThan(0);
    await expect(workspace.purge('conf/token.txt', () => false)).rejects.toMatchObject({ code: 'DECLINED' });
    expect(placesOf(place.home, secret(0)).length).toBeGreaterThan(0);
    const purged = await workspace.purge('conf/token.txt', ({ checkpoints, paths }) => {
      expect({ checkpoints, paths }).toEqual({ checkpoints: 3, paths: ['conf/token.txt'] });
      return true;
    });
    expect(purged.checkpoints).toBe(3);
    for (const n of [0, 1, 2]) expect(placesOf(place.home, secret(n))).toEqual([]);
    expect((await workspace.verify()).problems).toEqual([]);
    writeFiles(place.workspace, { 'conf/other': 'x', a: 'x' });
    await goBack(workspace, ids[1] ?? '');
    expect(readText(place.workspace, 'a')).toBe('1');
    expect(readFileSync(path.join(place.workspace, 'conf/other')).equals(noise(4000, 1))).toBe(true);
    expect(readFileSync(path.join(place.workspace, 'conf/token.txt')).equals(secret(2))).toBe(true);
  });

  test('SE-04: purge also reaches what the worktrees of runs hold, be they gone', async () => {
    const place = sandbox();
    const git = createGit(place.environment);
    const run = (...args: string[]) => git.run({ args, cwd: place.workspace });
    writeFiles(place.workspace, { a: 'a' });
    await run('init', '-q');
    await run('add', '-A');
    await run('-c', 'user.name=x', '-c', 'user.email=x@example.org', 'commit', '-qm', 'first');
    writeFiles(place.workspace, { 'token.txt': secret(1) });
    const { waymark, workspace } = await openSandbox(place);
    await take(workspace, { engine });
    for (const name of ['kept', 'gone']) {
      await workspace.runInWorktree({ name, engine, withChanges: true }, async ({ worktree }) => {
        writeFiles(worktree.path, { b: 'b' });
      });
    }
    await workspace.worktreeRemove('gone', { force: true });
    const all = (await waymark.listCheckpoints()).length;
    expect(all).toBeGreaterThan(4);
    const purged = await workspace.purge('token.txt', () => true);
    expect(purged).toMatchObject({ checkpoints: all, paths: ['token.txt'] });
    expect(placesOf(place.home, secret(1))).toEqual([]);
    expect((await waymark.doctor()).problems).toEqual([]);
  });

  test('SE-04: purge also frees what a capture stored that died before it was committed', async () => {
    const place = sandbox();
    writeFiles(place.workspace, { token: secret(1), a: 'a' });
    const { workspace } = await openSandbox(place);
    await take(workspace, { engine });
    let isDead = false;
    const stepHook: StepHook = (call, target) => {
      isDead ||= call === 'commit' && target === 'commit checkpoint';
      if (isDead) throw new Error('stopped');
    };
    writeFiles(place.workspace, { token: secret(2) });
    const { workspace: victim } = await openSandbox(place, { stepHook });
    await expect(victim.createCheckpoint({ engine })).rejects.toThrow('stopped');
    expect(placesOf(place.home, secret(2)).length).toBeGreaterThan(0);
    await workspace.purge('token', () => true);
    for (const n of [1, 2]) expect(placesOf(place.home, secret(n))).toEqual([]);
  });

  test('SE-04: purge takes nothing away from a restore that was interrupted', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { 'sub/a': 'old', b: 'old' });
    const id = await take(workspace, { engine });
    writeFiles(place.workspace, { 'sub/a': 'new', b: 'new' });
    const interrupt = async () => {
      const stepHook: StepHook = (call, target) => {
        if (call === 'link' && target.endsWith('/a')) throw new Error('stopped');
      };
      const { workspace: victim } = await openSandbox(place, { stepHook });
      await expect(goBack(victim, id)).rejects.toThrow('stopped');
      return true;
    };
    const refused = { code: 'RESTORE_INTERRUPTED' };
    await expect(workspace.purge('sub/*', interrupt)).rejects.toMatchObject(refused);
    const asked = vi.fn(() => true);
    await expect(workspace.purge('sub/*', asked)).rejects.toMatchObject(refused);
    expect(asked).not.toHaveBeenCalled();
    await workspace.recover('abort');
    expect(readText(place.workspace, 'sub/a')).toBe('new');
    expect((await workspace.purge('sub/*', () => true)).paths).toEqual(['sub/a']);
  });

  test('SE-04: undo of a restore leaves a path that was purged since and takes back the rest', async () => {
    const place = sandbox();
    const { workspace } = await openSandbox(place);
    writeFiles(place.workspace, { token: 'old', a: 'old' });
    const id = await take(workspace, { engine });
    writeFiles(place.workspace, { token: 'new', a: 'new' });
    await goBack(workspace, id);
    await workspace.purge('token', () => true);
    const { skipped } = await workspace.undo({ confirm: 'always' });
    expect(skipped).toEqual([
      { path: 'token', reason: 'conflict', detail: 'What it was before is not held (secret)' },
    ]);
    expect(readText(place.workspace, 'token')).toBe('old');
    expect(readText(place.workspace, 'a')).toBe('new');
  });

  test.each(['000', '022', '077'])(
    'SE-05: everything below WAYMARK_HOME is its owner’s alone under umask %s',
    async (umask) => {
      const place = cliSandbox();
      place.write('a', 'v1');
      place.write('sub/b', 'v1');
      const waymark = `${process.execPath} ${BIN}`;
      const script = [
        `umask ${umask}`,
        `id=$(${waymark} checkpoints create --store ${engine} --format json | sed -n 's/.*"checkpoint_id": "\\([A-Z0-9]*\\)".*/\\1/p' | head -1)`,
        'echo v2 > a',
        `${waymark} exec -q -- sh -c 'echo v3 > sub/b; find "$WAYMARK_HOME" -printf "%y %m %P\\n"'`,
        `${waymark} checkpoints restore $id --yes >&2`,
        `${waymark} checkpoints prune >&2`,
        'find "$WAYMARK_HOME" -printf "%y %m %P\\n"',
      ].join('\n');
      const listed = execFileSync('sh', ['-c', script], {
        cwd: place.work,
        env: place.env as NodeJS.ProcessEnv,
        stdio: ['ignore', 'pipe', 'ignore'],
      }).toString();
      const lines = listed.trim().split('\n');
      expect(lines.length).toBeGreaterThan(20);
      expect(lines.some((line) => line.includes('catalog.db-wal'))).toBe(true);
      // git makes packs read-only, which is tighter still
      expect(lines.filter((line) => !/^(?:d 700|f 600|f 400) /.test(line))).toEqual([]);
      expect(place.read('a')).toBe('v1');
    },
  );
});

test('SE-05: a home that is open to others is closed', async () => {
  const place = cliSandbox();
  place.write('a', 'v1');
  mkdirSync(place.home, { recursive: true, mode: 0o755 });
  chmodSync(place.home, 0o755);
  await place.ok(['checkpoints', 'create']);
  expect(lstatSync(place.home).mode & 0o777).toBe(0o700);
});

test.each(engines)(
  'SE-06: no program that the repository’s configuration names is run by any command, engine %s',
  async (engine) => {
    const place = cliSandbox();
    const marker = path.join(place.base, 'pwned');
    const program = path.join(place.base, 'program');
    writeFileSync(program, `#!/bin/sh\ntouch ${marker}\ncat\n`, { mode: 0o755 });
    place.write('a', 'v1');
    const setup = [
      'git init -q .',
      'git add a',
      'git -c user.name=u -c user.email=u@u commit -qm one',
      `git config core.fsmonitor ${program}`,
      `git config core.hooksPath ${place.base}/hooks`,
      `git config filter.evil.clean ${program}`,
      `git config filter.evil.smudge ${program}`,
      `git config filter.evil.process ${program}`,
      `git config diff.evil.command ${program}`,
      `git config diff.evil.textconv ${program}`,
      `git config diff.external ${program}`,
      `git config core.pager ${program}`,
      `git config core.sshCommand ${program}`,
      `git config core.editor ${program}`,
      `git config alias.ls-files '!${program}'`,
      `mkdir ${place.base}/hooks`,
      `for h in post-checkout post-index-change reference-transaction pre-commit post-commit; do printf '#!/bin/sh\\ntouch ${marker}\\n' > ${place.base}/hooks/$h; chmod +x ${place.base}/hooks/$h; cp ${place.base}/hooks/$h .git/hooks/; done`,
      "echo '* filter=evil diff=evil' > .gitattributes",
    ].join('\n');
    execFileSync('sh', ['-c', setup], { cwd: place.work, env: place.env as NodeJS.ProcessEnv });
    rmSync(marker, { force: true });
    const env = { PAGER: program, EDITOR: program, GIT_EXTERNAL_DIFF: program, GIT_SSH_COMMAND: program };
    const id = (await place.ok(['checkpoints', 'create', '--store', engine], { env })).trim();
    place.write('a', 'v2');
    place.write('b', 'new');
    await place.ok(['checkpoints', 'diff', id], { env });
    await place.ok(['status'], { env });
    await place.ok(['checkpoints', 'restore', id, '--yes'], { env });
    await place.ok(['undo', '--yes'], { env });
    await place.ok(['checkpoints', 'prune'], { env });
    expect(place.read('a')).toBe('v2');
    await place.run(['exec', '--worktree', '--', 'true'], { env });
    expect(existsSync(marker)).toBe(false);
  },
);

test('SE-06: commands in a workspace’s own file run only once it is trusted, and no longer when it changed', async () => {
  const place = cliSandbox();
  const marker = path.join(place.base, 'ran');
  place.write('waymark.toml', `[restore]\nverify = "touch ${marker}"\n`);
  place.write('a', 'v1');
  const id = (await place.ok(['checkpoints', 'create'])).trim();
  const back = async () => {
    place.write('a', 'v2');
    const output = await place.run(['checkpoints', 'restore', id, 'a', '.', '--yes']);
    expect(output.status).toBe(0);
    return output.stderr;
  };
  expect(await back()).toContain('not trusted');
  expect(existsSync(marker)).toBe(false);
  await place.ok(['trust']);
  expect(await back()).not.toContain('not trusted');
  expect(existsSync(marker)).toBe(true);
  rmSync(marker);
  place.write('waymark.toml', `[restore]\nverify = "touch ${marker} "\n`);
  expect(await back()).toContain('not trusted');
  expect(existsSync(marker)).toBe(false);
});
