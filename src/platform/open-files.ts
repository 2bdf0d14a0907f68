import { spawnSync } from 'node:child_process';
import { readdirSync, readlinkSync, realpathSync } from 'node:fs';

/**
 * Tells whether a live process has the file open. On Linux from `/proc` (processes of other users are not visible there),
 * elsewhere from `lsof`. Undefined: there is no way to know.
 */
export function isOpenSomewhere(path: string): boolean | undefined {
  let real: string;
  try {
    real = realpathSync.native(path);
  } catch {
    return false;
  }
  return process.platform === 'linux' ? isOpenInProc(real) : isOpenByLsof(real);
}

function isOpenInProc(path: string): boolean | undefined {
  let processes: string[];
  try {
    processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return undefined;
  }
  if (processes.length === 0) return undefined;
  return processes.some((pid) => descriptorsOf(pid).includes(path));
}

/** Targets of a process's open files; none where it has ended or belongs to somebody else. */
function descriptorsOf(pid: string): readonly string[] {
  const directory = `/proc/${pid}/fd`;
  try {
    return readdirSync(directory).flatMap((fd) => {
      try {
        return [readlinkSync(`${directory}/${fd}`)];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

/** `lsof` ends with 0 where somebody has the file open and with 1 where nobody has. */
function isOpenByLsof(path: string): boolean | undefined {
  const { status, error } = spawnSync('/usr/sbin/lsof', ['-t', '--', path], {
    stdio: 'ignore',
    timeout: 5000,
  });
  if (error !== undefined || status === null) return undefined;
  return status === 0;
}
