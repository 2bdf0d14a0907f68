import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createFileSystem } from '../../platform/node-file-system.ts';
import type { ToolStep } from '../document/plan-document.ts';
import type { ToolContext } from './tool.ts';
import { builtInTools } from './tools.ts';

let base: string;
let root: string;
let outside: string;
let printed: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-tools-')));
  root = join(base, 'sandbox');
  outside = join(base, 'outside');
  printed = '';
  mkdirSync(root);
  mkdirSync(outside);
  writeFileSync(join(outside, 'victim'), 'safe');
});
afterEach(() => {
  expect(readFileSync(join(outside, 'victim'), 'utf8')).toBe('safe');
  expect(readdirSync(outside)).toEqual(['victim']);
  rmSync(base, { recursive: true, force: true });
});

const common = { retry: 0, continueOnError: false } as const;
type Bare<S> = S extends ToolStep ? Omit<S, 'retry' | 'continueOnError'> : never;

function run(step: Bare<ToolStep>, more: Partial<ToolContext> = {}) {
  const whole = { ...common, ...step } as ToolStep;
  return builtInTools(whole).run(whole, {
    root,
    fs: createFileSystem(),
    environment: process.env,
    agents: {},
    forbidden: [join(root, 'private')],
    guidance: [],
    signal: new AbortController().signal,
    onOutput: (_, chunk) => {
      printed += chunk.toString();
    },
    ...more,
  });
}

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const put = (path: string, text: string) => writeFileSync(join(root, path), text);

const UNSAFE = [
  '../outside/victim',
  'a/../../outside/victim',
  '/etc/passwd',
  '.git/hooks/post-checkout',
  '.waymark/worktrees/x/f',
  'private/catalog.db',
  'sub/.GIT/config',
  '.g\u200cit/config',
  'git~1/config',
  'a//b',
  './../x',
  '.',
  'x\0y',
  'link/new',
  'link/victim',
];

describe.each(['write_file', 'edit_file', 'delete_file'] as const)('%s', (tool) => {
  const step = (path: string) =>
    tool === 'write_file'
      ? { tool, path, content: 'x' }
      : tool === 'edit_file'
        ? { tool, path, edits: [{ search: 'safe', replace: 'x' }] }
        : { tool, path };

  test.each(UNSAFE)('SE-01: never leaves the sandbox: %j', async (path) => {
    symlinkSync(outside, join(root, 'link'));
    mkdirSync(join(root, '.git', 'hooks'), { recursive: true });
    await expect(run(step(path))).rejects.toMatchObject({ code: 'UNSAFE_PATH' });
    expect(readdirSync(join(root, '.git', 'hooks'))).toEqual([]);
  });

  test('SE-02: never writes through a symlink at the end', async () => {
    symlinkSync(join(outside, 'victim'), join(root, 'f'));
    if (tool === 'delete_file') {
      await run(step('f'));
      expect(existsSync(join(root, 'f'))).toBe(false);
    } else await expect(run(step('f'))).rejects.toMatchObject({ code: 'UNSAFE_PATH' });
  });

  test('says what is in the way', async () => {
    mkdirSync(join(root, 'd'));
    put('file', 'x');
    await expect(run(step('d'))).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    await expect(run(step('file/x'))).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    if (tool !== 'write_file')
      await expect(run(step('gone'))).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
  });
});

describe('write_file', () => {
  test('creates parents, keeps the mode of a present file and leaves no temporary', async () => {
    await run({ tool: 'write_file', path: 'a/b/c.txt', content: 'é\n' });
    expect(read('a/b/c.txt')).toBe('é\n');
    chmodSync(join(root, 'a/b/c.txt'), 0o640);
    await run({ tool: 'write_file', path: './a/b/c.txt', content: '2' });
    expect(statSync(join(root, 'a/b/c.txt')).mode & 0o777).toBe(0o640);
    expect(readdirSync(join(root, 'a/b'))).toEqual(['c.txt']);
  });

  test('sets and clears the executable bit', async () => {
    await run({ tool: 'write_file', path: 'run', content: '', executable: true });
    expect(statSync(join(root, 'run')).mode & 0o100).toBe(0o100);
    await run({ tool: 'write_file', path: 'run', content: '', executable: false });
    expect(statSync(join(root, 'run')).mode & 0o111).toBe(0);
  });

  test('replaces a file with several links instead of writing through it', async () => {
    linkSync(join(outside, 'victim'), join(root, 'hard'));
    await run({ tool: 'write_file', path: 'hard', content: 'mine' });
    expect(read('hard')).toBe('mine');
  });

  test('refuses a FIFO without opening it', async () => {
    execFileSync('mkfifo', [join(root, 'p')]);
    await expect(run({ tool: 'write_file', path: 'p', content: '' })).rejects.toMatchObject({
      code: 'UNSAFE_PATH',
    });
    await expect(
      run({ tool: 'edit_file', path: 'p', edits: [{ search: 'a', replace: 'b' }] }),
    ).rejects.toMatchObject({ code: 'UNSAFE_PATH' });
    expect(lstatSync(join(root, 'p')).isFIFO()).toBe(true);
  });
});

describe('edit_file', () => {
  const edit = (...edits: readonly (readonly [string, string])[]) =>
    run({ tool: 'edit_file', path: 'f', edits: edits.map(([search, replace]) => ({ search, replace })) });

  test('replaces what occurs exactly once', async () => {
    put('f', 'one two\n');
    await edit(['two', '$& three'], ['one', '1']);
    expect(read('f')).toBe('1 $& three\n');
  });

  test.each([
    ['missing', 'abc', 'x'],
    ['twice', 'a-a', 'a'],
    ['overlapping', 'aaa', 'aa'],
    ['other line ends', 'a\r\nb', 'a\nb'],
  ])('refuses text that is %s and changes nothing', async (_, content, search) => {
    put('f', content);
    await expect(edit([search, 'y'])).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(read('f')).toBe(content);
  });

  test('applies all edits or none', async () => {
    put('f', 'a b');
    await expect(edit(['a', 'x'], ['a', 'y'])).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(read('f')).toBe('a b');
  });

  test('leaves bytes that are no text as they are', async () => {
    writeFileSync(join(root, 'f'), Buffer.from([0xff, 0x61, 0x00, 0xc3]));
    await edit(['a', 'b']);
    expect(readFileSync(join(root, 'f'))).toEqual(Buffer.from([0xff, 0x62, 0x00, 0xc3]));
  });
});

describe('apply_patch', () => {
  const patch = (text: string) => run({ tool: 'apply_patch', patch: text });

  test('changes, creates, deletes and renames in one go', async () => {
    put('f', 'a\n');
    put('gone', 'x\n');
    put('old', 'same\n');
    chmodSync(join(root, 'old'), 0o750);
    await patch(
      'diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n' +
        'diff --git a/d/new b/d/new\nnew file mode 100755\n--- /dev/null\n+++ b/d/new\n@@ -0,0 +1 @@\n+n\n' +
        'diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n' +
        'diff --git a/old b/moved\nsimilarity index 100%\nrename from old\nrename to moved\n',
    );
    expect(read('f')).toBe('b\n');
    expect(read('d/new')).toBe('n\n');
    expect(statSync(join(root, 'd/new')).mode & 0o100).toBe(0o100);
    expect(readdirSync(root).toSorted()).toEqual(['d', 'f', 'moved']);
    expect(statSync(join(root, 'moved')).mode & 0o777).toBe(0o750);
  });

  test('changes nothing where one hunk does not fit', async () => {
    put('f', 'a\n');
    put('g', 'z\n');
    await expect(
      patch('--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n'),
    ).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(read('f')).toBe('a\n');
  });

  test.each(['../outside/victim', '.git/config', 'link/victim', '/etc/passwd'])(
    'never leaves the sandbox: %s',
    async (path) => {
      symlinkSync(outside, join(root, 'link'));
      for (const text of [
        `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-safe\n\\ No newline at end of file\n+x\n`,
        `diff --git a/${path}2 b/${path}2\nnew file mode 100644\n--- /dev/null\n+++ b/${path}2\n@@ -0,0 +1 @@\n+x\n`,
        `diff --git a/${path} b/${path}\ndeleted file mode 100644\n--- a/${path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-safe\n\\ No newline at end of file\n`,
        `diff --git a/f b/${path}\nrename from f\nrename to ${path}3\n`,
      ]) {
        put('f', 'x');
        await expect(patch(text)).rejects.toMatchObject({ code: 'UNSAFE_PATH' });
      }
    },
  );

  test('refuses to create what exists, and to touch a file twice', async () => {
    put('f', 'a\n');
    await expect(patch('--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n')).rejects.toThrow(/exists/);
    await expect(
      patch('--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-b\n+c\n'),
    ).rejects.toThrow(/twice/);
    expect(read('f')).toBe('a\n');
  });
});

describe('shell', () => {
  test('runs in the sandbox and gives what it printed', async () => {
    mkdirSync(join(root, 'sub'));
    const { output, exitCode } = await run({
      tool: 'shell',
      command: 'pwd; echo "$N"; echo err >&2',
      cwd: 'sub',
      env: { N: '7' },
    });
    expect(exitCode).toBe(0);
    expect(output).toContain(`${join(root, 'sub')}\n7\n`);
    expect(printed).toContain('err');
  });

  test('takes a program and its arguments without a shell', async () => {
    expect((await run({ tool: 'shell', command: ['printf', '%s', '$HOME `x`'], env: {} })).output).toBe(
      '$HOME `x`',
    );
  });

  test('fails with the status', async () => {
    await expect(run({ tool: 'shell', command: 'echo why; exit 3', env: {} })).rejects.toMatchObject({
      code: 'COMMAND_FAILED',
      details: { exit_code: 3, output: 'why\n' },
    });
  });

  test('ends the whole process group on a time-out', async () => {
    const mark = join(root, 'late');
    await expect(
      run({ tool: 'shell', command: `(sleep 1; touch ${mark}) & sleep 30`, env: {}, timeoutMs: 200 }),
    ).rejects.toMatchObject({ details: { timed_out: true } });
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect(existsSync(mark)).toBe(false);
  });

  test('ends when it is interrupted', async () => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 100);
    await expect(
      run({ tool: 'shell', command: 'sleep 30', env: {} }, { signal: abort.signal }),
    ).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });

  test.each(['link', '../outside', '.git'])('does not run in %s', async (cwd) => {
    symlinkSync(outside, join(root, 'link'));
    await expect(run({ tool: 'shell', command: 'touch x', cwd, env: {} })).rejects.toMatchObject({
      code: 'UNSAFE_PATH',
    });
  });
});

describe('agent', () => {
  const agents = { default: ['cat'], args: ['printf', '%s|', '--', '{prompt}'], empty: [] };

  test('gets the prompt on standard input, guidance first', async () => {
    const { output } = await run(
      { tool: 'agent', prompt: 'do it', env: {} },
      { agents, guidance: ['be brief'] },
    );
    expect(output).toBe('Guidance:\n- be brief\n\ndo it');
  });

  test('gets the prompt as one argument, whatever is in it', async () => {
    const { output } = await run({ tool: 'agent', agent: 'args', prompt: "$& 'a' `b`", env: {} }, { agents });
    expect(output).toBe("--|$& 'a' `b`|");
  });

  test('runs the command of the step', async () => {
    expect(
      (await run({ tool: 'agent', command: ['wc', '-c'], prompt: '12345', env: {} })).output.trim(),
    ).toBe('5');
  });

  test.each(['nobody', 'empty', 'constructor'])('says that agent %s is not configured', async (name) => {
    await expect(run({ tool: 'agent', agent: name, prompt: 'x', env: {} }, { agents })).rejects.toMatchObject(
      {
        code: 'CONFIG_INVALID',
        hint: expect.stringContaining('default, args'),
      },
    );
  });
});
