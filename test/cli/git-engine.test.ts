import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type CliSandbox, cliSandbox } from '../support/cli-sandbox.ts';

/** Where the shadow repository of the workspace lies, by the hash that a shell prints. */
function shadowOf({ home, work }: CliSandbox): string {
  const command = 'echo -n "$1" | sha256sum | cut -c1-16';
  const hash = execFileSync('bash', ['-c', command, 'sh', work], { encoding: 'utf8' }).trim();
  expect(hash).toBe(createHash('sha256').update(work).digest('hex').slice(0, 16));
  return join(home, 'projects', hash, 'checkpoints', hash);
}

test('[store] engine = "git" chooses the shadow repository; both engines serve one workspace side by side', async () => {
  const place = cliSandbox();
  place.write('waymark.toml', '[store]\nengine = "git"\n');
  place.write('a', 'v1');
  const first = (
    await place.ok(['checkpoints', 'create', '--reason', 'pre-wave-1', '--source', 'build'])
  ).trim();
  expect(first).toMatch(/^[0-9a-f]{40}$/);
  const second = (await place.ok(['checkpoints', 'create', '--store', 'cas'])).trim();
  const shadow = shadowOf(place);
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['--git-dir', shadow, ...args], { encoding: 'utf8' }).trim();
  expect(git('log', '-1', '--format=%P|%s', first)).toMatch(
    /^\|pre-wave-1 \| \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \| build$/,
  );
  const [, , row, ...more] = readFileSync(join(shadow, 'checkpoint-manifest.md'), 'utf8').trim().split('\n');
  expect(row).toMatch(
    new RegExp(
      `^\\| ${first.slice(0, 8)} \\| \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d \\| pre-wave-1 +\\| build +\\|$`,
    ),
  );
  expect(more).toEqual([]);
  const listed = async () =>
    (await place.json(['checkpoints', 'list'])).map(
      ({ engine, sandbox_ref: ref, checkpoint_id: id }: Readonly<Record<string, string>>) => [
        engine,
        engine === 'git' ? ref : id,
      ],
    );
  const both = [
    ['cas', second],
    ['git', first],
  ];
  expect(await listed()).toEqual(both);
  for (const name of readdirSync(place.home))
    if (name.startsWith('catalog.db')) rmSync(join(place.home, name));
  expect(await listed()).toEqual(both);

  const stores = await place.json(['store', 'list']);
  expect(stores).toMatchObject([
    { engine: 'cas', workspace: null, checkpoints: 1, size_bytes: expect.any(Number) },
    { engine: 'git', workspace: place.work, path: shadow, checkpoints: 1, size_bytes: expect.any(Number) },
  ]);
  const refused = await place.run(['store', 'remove']);
  expect([refused.status, existsSync(shadow)]).toEqual([4, true]);
  const declined = await place.terminal(['store', 'remove'], [['for good', 'n']]);
  expect([declined.status, existsSync(shadow)]).toEqual([4, true]);
  await place.ok(['store', 'remove', '--yes']);
  expect(existsSync(shadow)).toBe(false);
  expect(await listed()).toEqual([['cas', second]]);
  expect((await place.run(['store', 'remove', '--yes'])).status).toBe(3);
});

test('a damaged shadow repository is moved aside by the next checkpoint, and never by list or restore', async () => {
  const place = cliSandbox();
  const create = ['checkpoints', 'create', '--store', 'git'];
  place.write('a', 'v1');
  const first = (await place.ok(create)).trim();
  const shadow = shadowOf(place);
  writeFileSync(join(shadow, 'HEAD'), 'no ref\n');
  place.write('a', 'v2');
  await place.ok(['checkpoints', 'list']);
  expect((await place.run(['checkpoints', 'restore', first, '--yes'])).status).toBe(1);
  expect(place.read('a')).toBe('v2');
  expect(readFileSync(join(shadow, 'HEAD'), 'utf8')).toBe('no ref\n');

  const { status, stdout, stderr } = await place.run(create);
  const aside = readdirSync(join(shadow, '..')).find((name) => name.includes('.corrupt-'));
  expect(stderr).toBe(
    `waymark: warning: Shadow repo was corrupt — reinitialized. Prior checkpoints are lost. The damaged repository lies in ${join(shadow, '..', aside ?? '')}\n`,
  );
  expect(status).toBe(0);
  const list = await place.json(['checkpoints', 'list']);
  expect(list).toMatchObject([
    { sandbox_ref: stdout.trim(), restorable: true },
    { sandbox_ref: first, restorable: false },
  ]);
});

test('without git on the PATH the git engine says so, and cas works', async () => {
  const place = cliSandbox();
  place.write('a', 'v1');
  mkdirSync(join(place.base, 'empty'));
  const env = { PATH: join(place.base, 'empty') };
  const { error } = await place.json(['checkpoints', 'create', '--store', 'git'], { env, status: 1 });
  expect(error).toMatchObject({ code: 'GIT_NOT_FOUND', hint: expect.stringContaining('--store cas') });
  const id = (await place.ok(['checkpoints', 'create', '--store', 'cas'], { env })).trim();
  place.write('a', 'v2');
  await place.ok(['checkpoints', 'restore', id, '--yes'], { env });
  expect(place.read('a')).toBe('v1');
});
