import { Option } from 'commander';
import { describe, expect, test } from 'vitest';
import type { CommandEntry, CommandModule } from './command.ts';
import { COMMANDS } from './commands.ts';
import { GROUPS } from './groups.ts';
import { parse, UsageError } from './parse.ts';

const loaded: string[] = [];

function entry(path: string, configure: CommandModule['configure']): CommandEntry {
  const module: CommandModule = { configure, examples: [['waymark x', 'does x']], run: async () => ({}) };
  return {
    path,
    summary: `summary of ${path}`,
    load: async () => {
      loaded.push(path);
      return module;
    },
  };
}

const ENTRIES: readonly CommandEntry[] = [
  entry('exec', (command) =>
    command.argument('<command...>').passThroughOptions().option('--label <text>').option('-q, --quiet'),
  ),
  entry('checkpoints create', (command) => command.argument('[paths...]').option('--reason <text>')),
  entry('checkpoints restore', (command) =>
    command.argument('<words...>').option('-y, --yes').addOption(new Option('--into <dir>')),
  ),
  entry('plan checkpoint list', (command) => command.argument('<plan>')),
];

async function invocation(...argv: readonly string[]) {
  const request = await parse(argv, ENTRIES, '1.2.3');
  if (request.kind !== 'command') throw new Error(request.text);
  return request.invocation;
}

async function text(...argv: readonly string[]): Promise<string> {
  const request = await parse(argv, ENTRIES, '1.2.3');
  if (request.kind !== 'text') throw new Error('no text');
  return request.text;
}

async function failure(...argv: readonly string[]): Promise<UsageError> {
  try {
    await parse(argv, ENTRIES, '1.2.3');
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error('parse() did not throw');
}

describe('parse()', () => {
  test('loads only the module of the command that was typed', async () => {
    loaded.length = 0;
    await invocation('checkpoints', 'create');
    await invocation('plan', 'checkpoint', 'list', 'p');
    expect(loaded).toEqual(['checkpoints create', 'plan checkpoint list']);
  });

  test('keeps words and what follows -- apart', async () => {
    const { words, literal } = await invocation(
      'checkpoints',
      'restore',
      's',
      '3',
      '--yes',
      '--',
      '-rf',
      '--yes',
    );
    expect(words).toEqual(['s', '3']);
    expect(literal).toEqual(['-rf', '--yes']);
    expect(await invocation('checkpoints', 'create', '--', 'a')).toMatchObject({ words: [], literal: ['a'] });
    expect(await invocation('checkpoints', 'create', 'a', '--')).toMatchObject({ words: ['a'], literal: [] });
  });

  test('takes common options before and after the command, the nearest counts', async () => {
    const { options } = await invocation(
      '--format',
      'yaml',
      'checkpoints',
      '-f',
      'json',
      'create',
      '--reason',
      'x',
    );
    expect(options.text('format')).toBe('json');
    expect(options.text('reason')).toBe('x');
    expect((await invocation('--workspace', '/w', 'checkpoints', 'create')).options.text('workspace')).toBe(
      '/w',
    );
  });

  test.each([
    [
      ['exec', '--label', 'x', '--', 'cmd', '--foo', '-f', 'json'],
      ['cmd', '--foo', '-f', 'json'],
    ],
    [
      ['exec', '-q', 'cmd', '--foo', '-q'],
      ['cmd', '--foo', '-q'],
    ],
    [
      ['exec', 'cmd', '--', 'x'],
      ['cmd', '--', 'x'],
    ],
    [
      ['exec', '--', 'cmd', '--', 'x'],
      ['cmd', '--', 'x'],
    ],
  ])('hands the command of %j through', async (argv, command) => {
    const { words, literal, options } = await invocation(...argv);
    expect([...words, ...literal]).toEqual(command);
    expect(options.text('format')).toBeUndefined();
  });

  test('prints help, with examples, and the version', async () => {
    expect(await text('--version')).toBe('1.2.3\n');
    expect(await text('checkpoints', 'create', '-h')).toMatch(
      /Usage: waymark checkpoints create.*Examples:\n {2}waymark x {2}does x\n$/s,
    );
    expect(await text('checkpoints', '--help')).toContain('summary of checkpoints create');
    expect(await text('help', 'exec')).toContain('Usage: waymark exec');
    expect(await text()).toMatch(/Usage: waymark.*Examples:/s);
  });

  test.each([
    [['help'], ['--help']],
    [
      ['help', 'exec'],
      ['exec', '--help'],
    ],
    [
      ['help', 'checkpoints'],
      ['checkpoints', '-h'],
    ],
    [
      ['help', 'checkpoints', 'restore'],
      ['checkpoints', 'restore', '--help'],
    ],
    [
      ['checkpoints', 'help', 'restore'],
      ['checkpoints', 'restore', '--help'],
    ],
    [
      ['plan', 'help', 'checkpoint', 'list'],
      ['plan', 'checkpoint', 'list', '-h'],
    ],
  ])('%j prints what %j prints', async (help, option) => {
    expect(await text(...help)).toBe(await text(...option));
  });

  test('asked for help, with a command behind the option, it only prints help', async () => {
    expect(await text('--help', 'exec')).toBe(await text('--help'));
    expect(await text('exec', '--help', 'x')).toBe(await text('exec', '--help'));
  });

  test.each([
    [['help', 'nonsense'], /unknown command 'nonsense'/, /./],
    [['nonsense', '--help'], /unknown command 'nonsense'/, /./],
    [['help', 'checkpoints', 'restor'], /unknown command 'restor'/, /restore/],
    [['checkpoints', 'restor', '-h'], /unknown command 'restor'/, /restore/],
    [['-f', 'json'], /No command is given/, /^Try: waymark --help$/],
    [['checkpoints', '-f', 'json'], /No command is given/, /^Try: waymark checkpoints --help$/],
    [['plan', 'checkpoint', '--workspace', 'x'], /./, /^Try: waymark plan checkpoint --help$/],
    [['checkpoints', 'create', '--workspace', ''], /--workspace.* names no directory/, /--help/],
    [['--workspace=', 'checkpoints', 'create'], /--workspace.* names no directory/, /--help/],
    [['checkpoints', 'create', '--reson', 'x'], /unknown option '--reson'/, /--reason/],
    [['checkpoint', 'create'], /unknown command 'checkpoint'/, /checkpoints/],
    [['checkpoints', 'restore'], /missing required argument/, /--help/],
    [['checkpoints'], /No command is given/, /waymark checkpoints --help/],
    [['exec', '--format', 'xml', 'ls'], /format/, /./],
    [['plan', 'checkpoint', 'list', 'a', 'b'], /too many arguments/, /--help/],
  ])('refuses %j', async (argv, message, hint) => {
    const error = await failure(...argv);
    expect(error.code).toBe('USAGE');
    expect(error.message).toMatch(message);
    expect(error.hint).toMatch(hint);
  });

  test('knows which command a mistake concerns', async () => {
    expect((await failure('exec')).module).toBeDefined();
    expect((await failure('nonsense')).module).toBeUndefined();
  });
});

const NOUNS = new Set(COMMANDS.map(({ path }) => path.split(' ').slice(0, -1).join(' ')));

test.each([...NOUNS].filter((noun) => noun !== ''))('waymark %s says what it is about', async (noun) => {
  const request = await parse([...noun.split(' '), '--help'], COMMANDS, '0');
  if (request.kind === 'text') expect(request.text).toContain(`\n\n${GROUPS[noun]?.summary}\n\n`);
});

test.each([...COMMANDS.map(({ path }) => path), ...NOUNS])(
  'waymark %s has a help with examples',
  async (path) => {
    const request = await parse([...path.split(' ').filter(Boolean), '--help'], COMMANDS, '0');
    expect(request).toMatchObject({ kind: 'text' });
    if (request.kind === 'text') expect(request.text).toMatch(/Usage: waymark .*Examples:\n {2}\S/s);
  },
);
