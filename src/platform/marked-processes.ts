import { readdirSync, readFileSync } from 'node:fs';

/**
 * Finds processes of this user whose environment holds `name=value`, as they were started: children of a process that died without ending them.
 * Linux only; elsewhere it finds none.
 */
export function markedProcesses(name: string, value: string): readonly number[] {
  if (process.platform !== 'linux') return [];
  const wanted = Buffer.from(`\0${name}=${value}\0`);
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid && environmentOf(pid).includes(wanted));
}

/** Ends such processes at once. */
export function killMarked(name: string, value: string): number {
  const pids = markedProcesses(name, value);
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
  return pids.length;
}

function environmentOf(pid: number): Buffer {
  try {
    return Buffer.concat([Buffer.from('\0'), readFileSync(`/proc/${pid}/environ`), Buffer.from('\0')]);
  } catch {
    // Gone meanwhile, or somebody else's: not one that we started.
    return Buffer.alloc(0);
  }
}
