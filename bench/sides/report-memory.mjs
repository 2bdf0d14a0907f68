import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/*
 * Loaded before a program (`node --import`): writes its peak memory in bytes to the file that BENCH_MEMORY names. On Linux it is read from
 * /proc, because `maxRSS` of a new process starts at what its parent had. Plain JavaScript: the parser that strips types would take 40 MB.
 */
const target = process.env.BENCH_MEMORY;
if (target !== undefined) process.on('exit', () => writeFileSync(target, `${peakMemory()}`));

function peakMemory() {
  const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : '';
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  return 1024 * (peak === undefined ? process.resourceUsage().maxRSS : Number(peak));
}
