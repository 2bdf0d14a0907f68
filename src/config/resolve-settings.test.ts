import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WaymarkError } from '../domain/errors.ts';
import { createFileSystem } from '../platform/node-file-system.ts';
import { resolveSettings } from './resolve-settings.ts';
import { distrustFile, isTrusted, trustFile } from './trust.ts';

const fs = createFileSystem();
let base: string;
let workspace: string;
let home: string;
let userFile: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-config-')));
  workspace = join(base, 'work');
  home = join(base, 'home');
  userFile = join(base, 'user.toml');
  mkdirSync(workspace);
  mkdirSync(home, { mode: 0o700 });
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

const resolve = (environment: Record<string, string> = {}) =>
  resolveSettings({ workspace, home, userFile, environment });
const write = (text: string) => writeFileSync(join(workspace, 'waymark.toml'), text);

function failure(environment: Record<string, string> = {}): WaymarkError {
  try {
    resolve(environment);
  } catch (error) {
    if (error instanceof WaymarkError) return error;
    throw error;
  }
  throw new Error('resolveSettings() did not throw');
}

describe('resolveSettings()', () => {
  test('gives the defaults of the design without any file', () => {
    const { settings, origins, warnings, workspaceFile } = resolve();
    expect(settings).toEqual({
      engine: 'cas',
      limits: { maxFileBytes: 8 * 1024 ** 2, maxTotalBytes: 64 * 1024 ** 2, maxFiles: 50_000 },
      scope: { include: [], exclude: [] },
      retention: { keep: 20, gitKeep: 50, maxAgeMs: 30 * 86_400_000, maxStoreBytes: 5 * 1024 ** 3 },
      autoCreateOn: ['on_tool_write', 'on_tool_write_complete', 'on_subplan_spawn', 'on_error'],
      maxCheckpoints: 50,
      autoPrune: true,
      restoreVerify: undefined,
      worktreeSetup: undefined,
      agents: {},
    });
    expect(origins.every(({ origin }) => origin === 'default')).toBe(true);
    expect(warnings).toEqual([]);
    expect(workspaceFile).toBeUndefined();
  });

  test('lets the environment override the workspace, the workspace the user, key by key', () => {
    writeFileSync(
      userFile,
      '[retention]\nkeep = 5\nmax_age = "2d"\n[limits]\nmax_files = 7\n[store.git]\nkeep = 9\n',
    );
    write('[retention]\nkeep = 6\n[limits]\nmax_file_bytes = "1MiB"\nmax_total_bytes = 2048\n');
    const { settings, origins } = resolve({ WAYMARK_LIMITS_MAX_FILE_BYTES: '2 KiB' });
    expect(settings.retention).toMatchObject({ keep: 6, maxAgeMs: 2 * 86_400_000, gitKeep: 9 });
    expect(settings.limits).toEqual({ maxFileBytes: 2048, maxTotalBytes: 2048, maxFiles: 7 });
    const origin = (key: string) => origins.find((entry) => entry.key === key)?.origin;
    expect(origin('limits.max_file_bytes')).toBe('environment');
    expect(origin('retention.keep')).toBe(join(workspace, 'waymark.toml'));
    expect(origin('retention.max_age')).toBe(userFile);
    expect(origin('store.engine')).toBe('default');
  });

  test.each([
    ['[limits]\nmax_fils = 3\n', 2, 'limits.max_fils'],
    ['\n[limit]\nmax_files = 3\n', 2, 'limit'],
    ['limits = 3\n', 1, 'limits'],
    ['[limits]\n# many\nmax_files = "many"\n', 3, 'limits.max_files'],
    ['limits.max_files = 0\n', 1, 'limits.max_files'],
    ['[limits]\nmax_file_bytes = "8 parsecs"\n', 2, 'limits.max_file_bytes'],
    ['[limits]\nmax_file_bytes = -1\n', 2, 'limits.max_file_bytes'],
    ['[limits]\nmax_file_bytes = 1.5\n', 2, 'limits.max_file_bytes'],
    ['[retention]\nmax_age = 30\n', 2, 'retention.max_age'],
    ['[store]\nengine = "memory"\n', 2, 'store.engine'],
    ['[core.checkpoints]\nmax_checkpoints = 101\n', 2, 'core.checkpoints.max_checkpoints'],
    ['[core.checkpoints]\nmax_checkpoints = 0\n', 2, 'core.checkpoints.max_checkpoints'],
    ['[core.checkpoints]\nauto_prune = "yes"\n', 2, 'core.checkpoints.auto_prune'],
    ['[scope]\ninclude = ["../secrets"]\n', 2, 'scope.include'],
    ['[scope]\nexclude = "x"\n', 2, 'scope.exclude'],
    ['[agents]\nclaude = "claude -p"\n', 2, 'agents.claude'],
    ['[restore]\nverify = ""\n', 2, 'restore.verify'],
    ['__proto__ = 3\n', 1, '__proto__'],
  ])('names file, line and key for %j', (text, line, key) => {
    write(text);
    const error = failure();
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message).toContain(`${join(workspace, 'waymark.toml')}:${line}: ${key} `);
  });

  test('takes a quoted name with a dot for what it is, an unknown key', () => {
    write('"limits.max_files" = 3\n');
    expect(failure().message).toContain('limits.max_files is not a known key');
  });

  test('lists the known triggers for an unknown one', () => {
    write('[core.checkpoints]\nauto_create_on = ["on_tool_write", "on_tool_wrote"]\n');
    expect(failure().message).toMatch(
      /on_tool_write, on_tool_write_complete, on_subplan_spawn, on_error.*"on_tool_wrote"/,
    );
  });

  test('takes an empty trigger list from file and environment', () => {
    write('[core.checkpoints]\nauto_create_on = []\n');
    expect(resolve().settings.autoCreateOn).toEqual([]);
    write('');
    expect(resolve({ WAYMARK_CORE_CHECKPOINTS_AUTO_CREATE_ON: '' }).settings.autoCreateOn).toEqual([]);
    expect(resolve({ WAYMARK_CORE_CHECKPOINTS_AUTO_CREATE_ON: 'on_error' }).settings.autoCreateOn).toEqual([
      'on_error',
    ]);
  });

  test('names a bad variable and warns of an unknown one', () => {
    expect(failure({ WAYMARK_LIMITS_MAX_FILES: 'x' }).message).toContain('WAYMARK_LIMITS_MAX_FILES');
    const { warnings } = resolve({
      WAYMARK_LIMIT_MAX_FILES: '3',
      WAYMARK_HOME: home,
      WAYMARK_SESSION: 's',
      WAYMARK_RUN: 'r',
      WAYMARK_LIMITS_MAX_FILES: '',
    });
    expect(warnings).toEqual(['Unknown variable WAYMARK_LIMIT_MAX_FILES is ignored']);
  });

  test('names the line of a syntax error without quoting the file', () => {
    write('[limits]\nsecret = "hunter2\n');
    const error = failure();
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message).toMatch(/waymark\.toml:\d+: Invalid TOML/);
    expect(error.message).not.toContain('hunter2');
  });

  test('refuses what is not a regular file, without blocking on a FIFO', () => {
    const path = join(workspace, 'waymark.toml');
    execFileSync('mkfifo', [path]);
    expect(failure().message).toContain('not a regular file');
    rmSync(path);
    symlinkSync('/dev/zero', path);
    expect(failure().message).toContain('not a regular file');
    rmSync(path);
    mkdirSync(path);
    expect(failure().code).toBe('CONFIG_INVALID');
  });
});

describe('trust', () => {
  const commands =
    '[restore]\nverify = "npm test"\n[worktree]\nsetup = "npm ci"\n[agents]\nclaude = ["claude", "-p"]\n[limits]\nmax_files = 9\n';

  test('resolveSettings() ignores commands of an untrusted workspace file with one warning, and nothing else', () => {
    write(commands);
    const { settings, warnings } = resolve();
    expect(settings.restoreVerify).toBeUndefined();
    expect(settings.worktreeSetup).toBeUndefined();
    expect(settings.agents).toEqual({});
    expect(settings.limits.maxFiles).toBe(9);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/restore\.verify, worktree\.setup, agents\.claude.*waymark trust/);
  });

  test('resolveSettings() takes commands from the user’s file and the environment', () => {
    writeFileSync(userFile, commands);
    expect(resolve().settings).toMatchObject({
      restoreVerify: 'npm test',
      worktreeSetup: 'npm ci',
      agents: { claude: ['claude', '-p'] },
    });
    expect(resolve({ WAYMARK_RESTORE_VERIFY: 'make' }).settings.restoreVerify).toBe('make');
  });

  test('trustFile() is bound to the bytes, the path, and kept privately', () => {
    write(commands);
    const file = join(workspace, 'waymark.toml');
    expect(isTrusted(home, file)).toBe(false);
    trustFile(fs, home, file);
    expect(isTrusted(home, file)).toBe(true);
    expect(resolve().settings.restoreVerify).toBe('npm test');
    expect(resolve().warnings).toEqual([]);
    expect(statSync(join(home, 'trust')).mode & 0o777).toBe(0o700);
    for (const name of execFileSync('ls', [join(home, 'trust')], { encoding: 'utf8' })
      .trim()
      .split('\n')) {
      expect(statSync(join(home, 'trust', name)).mode & 0o777).toBe(0o600);
    }

    write(`${commands}# one byte more\n`);
    expect(isTrusted(home, file)).toBe(false);
    expect(resolve().settings.restoreVerify).toBeUndefined();
    write(commands);
    expect(isTrusted(home, file)).toBe(true);
    distrustFile(fs, home, file);
    distrustFile(fs, home, file);
    expect(isTrusted(home, file)).toBe(false);
  });

  test('isTrusted() takes a damaged record for none; trustFile() names a missing file', () => {
    write(commands);
    const file = join(workspace, 'waymark.toml');
    trustFile(fs, home, file);
    const [record = ''] = execFileSync('ls', [join(home, 'trust')], { encoding: 'utf8' }).split('\n');
    writeFileSync(join(home, 'trust', record), '{"path":');
    expect(isTrusted(home, file)).toBe(false);
    expect(() => trustFile(fs, home, join(base, 'none.toml'))).toThrow(
      expect.objectContaining({ code: 'PATH_NOT_FOUND' }),
    );
  });
});
