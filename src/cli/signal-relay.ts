import { readFileSync } from 'node:fs';
import type { RunningCommand } from '../platform/spawn-command.ts';

export interface SignalRelay {
  /** A signal reached us while the command ran. */
  readonly signalled: boolean;
}

const ALWAYS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'];
/** A terminal sends these to its whole foreground group, the command included. */
const FROM_TERMINAL: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];
const ENDING: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'];

/**
 * From now on signals do not end this process: they are the command's. SIGINT and SIGQUIT are handed on only where no
 * terminal has sent them to the command already. Stays in force, so that what follows the command is not cut short.
 */
export function relaySignals(host: NodeJS.Process, child: RunningCommand): SignalRelay {
  const relay = { signalled: false };
  for (const signal of [...ALWAYS, ...FROM_TERMINAL]) {
    host.on(signal, () => {
      relay.signalled ||= ENDING.includes(signal);
      if (ALWAYS.includes(signal) || !isForeground(host)) send(child, signal);
    });
  }
  return relay;
}

function send(child: RunningCommand, signal: NodeJS.Signals): void {
  try {
    child.kill(signal);
  } catch {
    // It has ended meanwhile.
  }
}

/** Tells whether our process group is the foreground group of a terminal: fields 5 and 8 of proc(5) `stat`. */
function isForeground(host: NodeJS.Process): boolean {
  let text: string;
  try {
    text = readFileSync('/proc/self/stat', 'latin1');
  } catch {
    // Not Linux: a terminal on any stream is the best guess.
    return [host.stdin, host.stdout, host.stderr].some((stream) => stream.isTTY);
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields[2] !== undefined && fields[2] === fields[5];
}
