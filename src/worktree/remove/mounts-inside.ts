import { readFileSync } from 'node:fs';
import { decodeName, isBelow } from '../../domain/rel-path.ts';

/** Mount points at or below `path`: what lies there is not the worktree's. Only Linux tells; elsewhere other devices are met on the way. */
export function mountsInside(path: string): readonly string[] {
  if (process.platform !== 'linux') return [];
  return decodeName(readFileSync('/proc/self/mountinfo'))
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .map((point) =>
      point.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8))),
    )
    .filter((point) => point === path || isBelow(point, path));
}
