import { readFileSync } from 'node:fs';
import type { Sample } from '../rows/row.ts';

/** Runs something and gives the wall time and, on Linux, the processor time that it and its child processes took. */
export async function timed(work: () => unknown): Promise<Sample> {
  const [own, children, start] = [process.cpuUsage(), childrenCpuMs(), performance.now()];
  await work();
  const value = performance.now() - start;
  const { user, system } = process.cpuUsage(own);
  const ended = childrenCpuMs();
  if (children === undefined || ended === undefined) return { value };
  return { value, cpuMs: (user + system) / 1000 + ended - children };
}

/** `USER_HZ` is 100 on every Linux that Node runs on: what children took comes in steps of 10 ms. */
const TICK_MS = 10;

/** Processor time of all child processes that ended so far, ms. */
function childrenCpuMs(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // the fields after the program's name, which may hold anything; cutime and cstime are fields 16 and 17 of all
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return TICK_MS * (Number(fields[13]) + Number(fields[14]));
}
