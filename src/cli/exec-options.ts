import type { RunOptions } from '../checkpoints/api/runs.ts';
import type { CommandContext } from './context.ts';
import { given, type Options } from './options.ts';

/** What the options of `exec` say about the run, in place or in a worktree. */
export function runOptions(argv: readonly string[], options: Options): RunOptions {
  return {
    source: 'exec',
    description: argv.join(' '),
    requireCheckpoint: options.flag('requireCheckpoint'),
    ...given('session', options.text('session')),
    ...given('label', options.text('label')),
    ...given('engine', options.choice('store', ['cas', 'git'])),
    ...given('everyMs', options.seconds('every')),
  };
}

/** What the command sees: our environment and which run it is in. */
export function childEnvironment(
  { environment, locations }: CommandContext,
  run: Readonly<Record<string, string>>,
): Readonly<Record<string, string | undefined>> {
  // A relative one would mean another place once the command has changed its directory.
  const home = environment['WAYMARK_HOME'] ? { WAYMARK_HOME: locations.home } : {};
  return { ...environment, ...run, ...home };
}
