import { delimiter } from 'node:path';
import type { GitCommand } from './git-process.ts';

const NO_PROGRAMS = ['core.fsmonitor=false', 'core.hooksPath=/dev/null'];

/** Bytes in are bytes out, nothing is signed, nothing runs by itself, everything is flushed. */
const ISOLATED = [
  ...NO_PROGRAMS,
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'core.autocrlf=false',
  'core.safecrlf=false',
  'core.untrackedCache=false',
  'core.logAllRefUpdates=false',
  'core.protectNTFS=false',
  'core.protectHFS=false',
  'core.precomposeUnicode=false',
  'core.quotePath=true',
  'core.alternateRefsCommand=',
  'core.fsync=all',
  'core.fsyncMethod=fsync',
  // larger blobs stream through git instead of lying in its memory
  'core.bigFileThreshold=16m',
  'commit.gpgSign=false',
  'tag.gpgSign=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'receive.autogc=false',
  'protocol.allow=never',
];

const IDENTITY = 'Waymark';
const ADDRESS = 'waymark@localhost';

/** Arguments of the git program: the settings that must hold, then the command's own. */
export function gitArguments(command: GitCommand): string[] {
  const settings = command.isolated ? ISOLATED : NO_PROGRAMS;
  return [
    ...(command.isolated ? ['--literal-pathspecs', '--no-replace-objects', '--no-pager'] : ['--no-pager']),
    ...settings.flatMap((setting) => ['-c', setting]),
    ...command.args,
  ];
}

/** The inherited environment without any `GIT_*`, plus what the command needs. */
export function gitEnvironment(
  inherited: Readonly<Record<string, string | undefined>>,
  path: readonly string[],
  command: GitCommand,
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(inherited)) {
    if (value !== undefined && !name.toUpperCase().startsWith('GIT_')) environment[name] = value;
  }
  Object.assign(environment, {
    PATH: path.join(delimiter),
    LC_ALL: 'C',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    // older git would fetch what a partial clone lacks, through whatever program the repository names for that
    GIT_ALLOW_PROTOCOL: 'none',
  });
  if (command.isolated) Object.assign(environment, isolation());
  return Object.assign(
    environment,
    command.gitDir !== undefined && { GIT_DIR: command.gitDir },
    command.workTree !== undefined && { GIT_WORK_TREE: command.workTree },
    command.indexFile !== undefined && { GIT_INDEX_FILE: command.indexFile },
    command.env,
  );
}

function isolation(): Record<string, string> {
  return {
    // older git knows no GIT_CONFIG_GLOBAL
    HOME: '/dev/null',
    XDG_CONFIG_HOME: '/dev/null',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_AUTHOR_NAME: IDENTITY,
    GIT_AUTHOR_EMAIL: ADDRESS,
    GIT_COMMITTER_NAME: IDENTITY,
    GIT_COMMITTER_EMAIL: ADDRESS,
  };
}
