import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { decodeName, isBelow } from '../../domain/rel-path.ts';

/** A process that works in a directory. */
export interface ProcessInside {
  readonly pid: number;
  /** its program's name as the system has it */
  readonly name: string;
}

/**
 * Finds processes whose current directory is `path` or below, as far as this user may look. Only Linux tells;
 * elsewhere undefined: not known.
 */
export function processesInside(path: string): readonly ProcessInside[] | undefined {
  if (process.platform !== 'linux') return undefined;
  const inside: ProcessInside[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const directory = currentDirectory(name);
    if (directory !== undefined && (directory === path || isBelow(directory, path))) {
      inside.push({ pid: Number(name), name: programName(name) });
    }
  }
  return inside;
}

/** Undefined where the process has ended or belongs to somebody else. */
function currentDirectory(pid: string): string | undefined {
  try {
    return decodeName(readlinkSync(`/proc/${pid}/cwd`, 'buffer')).replace(/ \(deleted\)$/, '');
  } catch {
    return undefined;
  }
}

function programName(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
