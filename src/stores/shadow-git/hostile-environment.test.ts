import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { shadowPlace } from '../../../test/support/fresh-shadow-place.ts';
import { contentsOf, type ShadowPlace } from '../../../test/support/shadow-place.ts';

const SAMPLES = {
  '.gitattributes': '* filter=evil text=auto ident\n*.bin filter=lfs diff=lfs merge=lfs -text\n',
  'a.bin': 'real bytes\r\n\0',
  'w.txt': 'crlf\r\n',
  'l.txt': 'lf\n',
} as const;

/** Everything the engine does, once. */
async function exercise({ store, capture }: ShadowPlace): Promise<void> {
  const first = await capture(SAMPLES);
  const second = await capture({ 'l.txt': 'changed\r\n' }, { base: first.written.ref.root });
  expect(await contentsOf(store, await store.open(first.record.snapshot))).toEqual(SAMPLES);
  expect([
    ...store.diff(await store.open(first.record.snapshot), await store.open(second.record.snapshot)),
  ]).toHaveLength(1);
  expect((await store.manifests()).manifests).toHaveLength(2);
  await store.setPinned(second.where, true);
  await store.retract(first.where);
  await store.collect({ minAgeMs: 0, thorough: true, dryRun: false });
  expect(await store.verify([second.record])).toEqual([]);
  await store.purge([second.record], (path) => path === 'a.bin');
}

/** A program that leaves a mark wherever it is run, and fails. */
function evilProgram(directory: string): { readonly program: string; readonly wasRun: () => boolean } {
  const marker = join(directory, 'marker');
  const program = join(directory, 'evil');
  writeFileSync(program, `#!/bin/sh\ntouch '${marker}'\nexit 1\n`);
  chmodSync(program, 0o755);
  return { program, wasRun: () => existsSync(marker) };
}

function hostileConfig(program: string, hooks: string): string {
  return `
[commit]
	gpgsign = true
[tag]
	gpgsign = true
[gpg]
	program = ${program}
[core]
	hooksPath = ${hooks}
	fsmonitor = ${program}
	autocrlf = true
	eol = crlf
	safecrlf = true
	pager = ${program}
	editor = ${program}
	sshCommand = ${program}
	attributesFile = ${hooks}/attributes
	excludesFile = ${hooks}/attributes
	alternateRefsCommand = ${program}
	precomposeunicode = true
	compression = 0
	fileMode = false
	symlinks = false
	ignoreCase = true
[filter "evil"]
	clean = ${program}
	smudge = ${program}
	process = ${program}
	required = true
[filter "lfs"]
	clean = ${program}
	smudge = ${program}
	required = true
[diff]
	external = ${program}
[init]
	templateDir = ${hooks}/template
	defaultBranch = "we ird"
	defaultObjectFormat = sha256
[gc]
	auto = 1
	reflogExpire = now
[transfer]
	fsckObjects = true
[fastimport]
	unpackLimit = 100000
[safe]
	directory = /nowhere
	bareRepository = explicit
[user]
	useConfigOnly = true
[log]
	showSignature = true
[include]
	path = ${hooks}/included
`;
}

function prepareHome(directory: string): { readonly home: string; readonly wasRun: () => boolean } {
  const home = join(directory, 'user-home');
  const hooks = join(home, 'hooks');
  mkdirSync(join(hooks, 'template', 'hooks'), { recursive: true });
  mkdirSync(join(home, '.config', 'git'), { recursive: true });
  const { program, wasRun } = evilProgram(directory);
  const script = readFileSync(program);
  for (const hook of [
    'pre-commit',
    'post-commit',
    'reference-transaction',
    'post-index-change',
    'pre-auto-gc',
    'post-checkout',
    'commit-msg',
  ]) {
    for (const place of [hooks, join(hooks, 'template', 'hooks')]) {
      writeFileSync(join(place, hook), script);
      chmodSync(join(place, hook), 0o755);
    }
  }
  writeFileSync(join(hooks, 'attributes'), '* filter=evil text eol=crlf\n');
  writeFileSync(join(hooks, 'included'), `[core]\n\tfsmonitor = ${program}\n`);
  writeFileSync(join(home, '.gitconfig'), hostileConfig(program, hooks));
  writeFileSync(join(home, '.config', 'git', 'config'), hostileConfig(program, hooks));
  writeFileSync(join(home, '.config', 'git', 'attributes'), '* filter=evil\n');
  return { home, wasRun };
}

test('RE-03, RE-09, RE-10, SE-06, DL-17: nothing a user configures changes or runs anything', async () => {
  const place = shadowPlace();
  const { home, wasRun } = prepareHome(place.directory);
  const { PATH } = process.env;
  const hostile = shadowPlace({}, { PATH, HOME: home, XDG_CONFIG_HOME: join(home, '.config') });
  await exercise(hostile);
  expect(wasRun()).toBe(false);
  expect(existsSync(join(hostile.gitDir, 'hooks'))).toBe(false);
  const plain = await hostile.plain('config', '--list', '--local');
  expect(plain).not.toMatch(/gpg|hook|fsmonitor|filter|autocrlf/i);
});

test('RE-02: GIT_ variables that leak in change nothing, in us or in the repository they name', async () => {
  const place = shadowPlace();
  const { home, wasRun } = prepareHome(place.directory);
  const victim = userRepository(place.directory);
  const before = fingerprint(victim);
  const { PATH } = process.env;
  const evil = join(place.directory, 'evil');
  const hostile = shadowPlace(
    {},
    {
      PATH,
      HOME: home,
      GIT_DIR: join(victim, '.git'),
      GIT_WORK_TREE: victim,
      GIT_INDEX_FILE: join(victim, '.git', 'index'),
      GIT_OBJECT_DIRECTORY: join(victim, '.git', 'objects'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(victim, '.git', 'objects'),
      GIT_COMMON_DIR: join(victim, '.git'),
      GIT_NAMESPACE: 'elsewhere',
      GIT_CONFIG_GLOBAL: join(home, '.gitconfig'),
      GIT_CONFIG_SYSTEM: join(home, '.gitconfig'),
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'core.fsmonitor',
      GIT_CONFIG_VALUE_0: evil,
      GIT_CONFIG_KEY_1: 'core.hooksPath',
      GIT_CONFIG_VALUE_1: join(home, 'hooks'),
      GIT_CONFIG_PARAMETERS: `'core.fsmonitor'='${evil}'`,
      GIT_TEMPLATE_DIR: join(home, 'hooks', 'template'),
      GIT_EXTERNAL_DIFF: evil,
      GIT_EDITOR: evil,
      GIT_PAGER: evil,
      GIT_SSH_COMMAND: evil,
      GIT_DEFAULT_HASH: 'sha256',
      GIT_DEFAULT_REF_FORMAT: 'reftable',
      GIT_AUTHOR_DATE: 'nonsense',
      GIT_QUARANTINE_PATH: '/nowhere',
      GIT_TRACE: join(place.directory, 'marker'),
      GIT_EXEC_PATH: '/nowhere',
      LC_ALL: 'de_DE.UTF-8',
      LANGUAGE: 'de',
    },
  );
  await exercise(hostile);
  expect(wasRun()).toBe(false);
  expect(fingerprint(victim)).toEqual(before);
});

test('DL-17: a fresh HOME without an identity is enough', async () => {
  const { PATH } = process.env;
  const place = shadowPlace({}, { PATH, HOME: '/nonexistent', EMAIL: '' });
  const { published } = await place.capture({ 'draft.md': 'text' });
  expect(await place.plain('log', '-1', '--format=%an %cn', published.sandboxRef)).toBe('Waymark Waymark\n');
});

/** A repository with a commit, a staged change, hooks and configuration. */
function userRepository(directory: string): string {
  const root = join(directory, 'victim');
  mkdirSync(root);
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=u', '-c', 'user.email=u@example.invalid', ...args], { cwd: root });
  git('init', '-q');
  writeFileSync(join(root, 'a'), 'a');
  git('add', 'a');
  git('commit', '-qm', 'one');
  writeFileSync(join(root, 'a'), 'b');
  git('add', 'a');
  return root;
}

/** Name, mode, times and content of everything below. */
function fingerprint(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const stats = lstatSync(join(root, name), { bigint: true });
      const content = stats.isFile()
        ? createHash('sha256')
            .update(readFileSync(join(root, name)))
            .digest('hex')
        : '';
      return `${name} ${stats.mode} ${stats.ino} ${stats.mtimeNs} ${content}`;
    });
}

test('RE-01, RE-04, RE-07: the project’s own repository stays byte-identical', async () => {
  const place = shadowPlace();
  const root = userRepository(place.identity.path);
  const before = fingerprint(root);
  await exercise(place);
  expect(fingerprint(root)).toEqual(before);
});

test.each(['000', '077', '022'])(
  'SE-05: files are 0600 and directories 0700 under umask %s',
  async (umask) => {
    const before = process.umask(Number.parseInt(umask, 8));
    onTestFinished(() => void process.umask(before));
    const place = shadowPlace();
    await exercise(place);
    await place.capture({ another: 'one' });
    const open = readdirSync(place.options.layout.home, { recursive: true, encoding: 'utf8' })
      .map(
        (name) =>
          [name, (lstatSync(join(place.options.layout.home, name)).mode & 0o077).toString(8)] as const,
      )
      .filter(([, mode]) => mode !== '0');
    expect(open).toEqual([]);
  },
);
