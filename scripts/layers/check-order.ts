import { posix } from 'node:path';
import { FOLDERS, OWN } from './layers.ts';
import type { ImportFound } from './scan-source.ts';
import type { Violation } from './violation.ts';

/**
 * Checks one file of `src/` against the order of the folders that it lies in.
 *
 * @param path relative to `src/`, `/`-separated
 */
export function checkOrder(path: string, imports: readonly ImportFound[]): readonly Violation[] {
  const parents = Object.keys(FOLDERS).filter((parent) => path.startsWith(`${parent}/`));
  return parents.flatMap((parent) => {
    const folder = folderOf(parent, path);
    const step = stepOf(parent, folder);
    if (step === -1) {
      const message = `src/${path} has no place in ${parent}: add its folder to scripts/layers/layers.ts`;
      return [{ line: 1, message }];
    }
    return imports.flatMap(({ from, line }) => {
      if (!from.startsWith('.')) return [];
      const target = posix.normalize(posix.join(posix.dirname(path), from));
      if (!target.startsWith(`${parent}/`)) return [];
      const other = folderOf(parent, target);
      if (other === folder || stepOf(parent, other) < step) return [];
      return [
        { line, message: `${nameOf(parent, folder)} must not import ${nameOf(parent, other)} (${from})` },
      ];
    });
  });
}

/** The folder directly in `parent` that a path lies in. */
function folderOf(parent: string, path: string): string {
  const below = path.slice(parent.length + 1);
  return below.includes('/') ? (below.split('/')[0] ?? '') : OWN;
}

/** -1: the folder is not listed. */
function stepOf(parent: string, folder: string): number {
  return (FOLDERS[parent] ?? []).findIndex((step) => step.includes(folder));
}

function nameOf(parent: string, folder: string): string {
  return folder === OWN ? parent : `${parent}/${folder}`;
}
