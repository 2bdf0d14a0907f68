import { Command, CommanderError, Option } from 'commander';
import { WaymarkError } from '../domain/errors.ts';
import type { CommandEntry, CommandModule, Invocation } from './command.ts';
import { directoryName } from './directory-name.ts';
import { FORMATS } from './format.ts';
import { GROUPS } from './groups.ts';
import { Options } from './options.ts';

/** What the arguments ask for: a command, or text to print (help, version). */
export type Request =
  | { readonly kind: 'command'; readonly module: CommandModule; readonly invocation: Invocation }
  | { readonly kind: 'text'; readonly text: string };

/** A mistake in the arguments, with the command it concerns where that is known. */
export class UsageError extends WaymarkError {
  readonly module: CommandModule | undefined;

  constructor(message: string, hint: string | undefined, module: CommandModule | undefined) {
    super('USAGE', message, hint === undefined ? {} : { hint });
    this.module = module;
  }
}

/**
 * Parses the arguments against the command table; only the module of the command that was typed is loaded.
 *
 * @throws UsageError
 */
export async function parse(
  argv: readonly string[],
  entries: readonly CommandEntry[],
  version: string,
): Promise<Request> {
  let text = '';
  let loaded: CommandModule | undefined;
  let chosen: { readonly module: CommandModule; readonly command: Command } | undefined;
  let explained: readonly string[] | undefined;
  let helped: Command | undefined;

  const leaves = new Map<Command, CommandEntry>();
  const configureLeaf = async (_parent: Command, command: Command) => {
    const entry = leaves.get(command);
    if (entry === undefined) return;
    const module = await entry.load();
    loaded = module;
    module.configure(command);
    addCommonOptions(command);
    command.addHelpText('after', examplesText(module.examples));
    command.action(() => {
      chosen = { module, command };
    });
  };

  const program = new Command('waymark');
  program
    .description('Undo for coding agents: checkpoints of a workspace, and the way back')
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (part) => {
        text += part;
      },
      // Reported once, by the caller.
      writeErr: () => {},
      outputError: () => {},
    })
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .hook('preSubcommand', configureLeaf);
  addCommonOptions(program);
  program.addHelpText('after', PROGRAM_EXAMPLES);
  addCommands(program, entries, leaves, configureLeaf);
  forEachGroup(program, (group) => {
    group.on('beforeHelp', () => {
      helped = group;
    });
    group
      .helpCommand(false)
      .command('help [command...]')
      .summary('print the help of a command')
      .description('print the help of a command')
      .action((words: readonly string[]) => {
        explained = [...pathOf(group), ...words];
      });
  });

  if (argv.length === 0) return { kind: 'text', text: `${program.helpInformation()}${PROGRAM_EXAMPLES}\n` };
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) {
      if (helped !== undefined && namesNoCommand(helped)) await parse(withoutHelp(argv), entries, version);
      return { kind: 'text', text };
    }
    if (error.code === 'commander.help') throw missingCommand(helped ?? program);
    throw usageError(error, loaded);
  }
  if (explained !== undefined) return await parse([...explained, '--help'], entries, version);
  if (chosen === undefined) throw missingCommand(program);
  return { kind: 'command', module: chosen.module, invocation: invocationOf(chosen.command, argv) };
}

function addCommands(
  program: Command,
  entries: readonly CommandEntry[],
  leaves: Map<Command, CommandEntry>,
  configureLeaf: (parent: Command, command: Command) => Promise<void>,
): void {
  const groups = new Map<string, Command>([['', program]]);
  for (const entry of entries) {
    const words = entry.path.split(' ');
    const name = words.pop() ?? '';
    let parent = program;
    for (const [at, word] of words.entries()) {
      const path = words.slice(0, at + 1).join(' ');
      const group = groups.get(path) ?? addGroup(parent, word, path).hook('preSubcommand', configureLeaf);
      groups.set(path, group);
      parent = group;
    }
    leaves.set(parent.command(name).summary(entry.summary).description(entry.summary), entry);
  }
}

function addGroup(parent: Command, word: string, path: string): Command {
  const { summary, examples } = GROUPS[path] ?? { summary: '', examples: [] };
  const group = parent.command(word).enablePositionalOptions().summary(summary).description(summary);
  addCommonOptions(group);
  if (examples.length > 0) group.addHelpText('after', examplesText(examples));
  return group;
}

function forEachGroup(command: Command, body: (group: Command) => void): void {
  if (command.commands.length === 0) return;
  for (const child of command.commands) forEachGroup(child, body);
  body(command);
}

/** The words that lead to a command. */
function pathOf(command: Command): readonly string[] {
  return command.parent === null ? [] : [...pathOf(command.parent), command.name()];
}

/** Tells whether a group that was asked for its help was given the name of a command it does not have. */
function namesNoCommand(group: Command): boolean {
  const [word] = group.args;
  return word !== undefined && !word.startsWith('-') && group.commands.every((one) => one.name() !== word);
}

function withoutHelp(argv: readonly string[]): readonly string[] {
  return argv.filter((word) => word !== '--help' && word !== '-h');
}

const PROGRAM_EXAMPLES = `
Examples:
  waymark exec -- my-agent "fix the tests"    run an agent under protection
  waymark undo                                take back what it did
  waymark checkpoints create                  checkpoint the workspace now
  waymark checkpoints restore @               go back to the newest checkpoint`;

function addCommonOptions(command: Command): void {
  command
    .addOption(new Option('-f, --format <format>', 'how to print results').choices([...FORMATS]))
    .addOption(
      new Option('--workspace <dir>', 'the workspace (default: found from the current directory)').argParser(
        directoryName,
      ),
    )
    .addOption(new Option('--allow-root', 'accept /, the home or the temporary directory as a workspace'));
}

function examplesText(examples: CommandModule['examples']): string {
  const width = Math.max(...examples.map(([line]) => line.length));
  const lines = examples.map(([line, effect]) => `  ${line.padEnd(width)}  ${effect}`.trimEnd());
  return `\nExamples:\n${lines.join('\n')}`;
}

function invocationOf(command: Command, argv: readonly string[]): Invocation {
  const chain: Command[] = [];
  for (let at: Command | null = command; at; at = at.parent) chain.unshift(at);
  const values = Object.assign({}, ...chain.map((part) => part.opts())) as Record<string, unknown>;
  const { args } = command;
  const dashes = argv.indexOf('--');
  const after = dashes < 0 ? 0 : argv.length - dashes - 1;
  const literal = after > 0 && after <= args.length ? after : 0;
  return {
    words: args.slice(0, args.length - literal),
    literal: args.slice(args.length - literal),
    options: new Options(values),
  };
}

function usageError(error: CommanderError, module: CommandModule | undefined): UsageError {
  const [first = '', ...more] = error.message.replace(/^error: /, '').split('\n');
  const suggestion = more.join(' ').replace(/^\((.*)\)$/, '$1');
  return new UsageError(first, suggestion || 'Try --help', module);
}

function missingCommand(group: Command): UsageError {
  const hint = `Try: ${['waymark', ...pathOf(group), '--help'].join(' ')}`;
  return new UsageError('No command is given', hint, undefined);
}
