import type { Entry } from '../../domain/snapshot.ts';

export function isDirectory(entry: Entry | undefined): boolean {
  return entry?.kind === 'directory';
}

/** What git knows of an entry's mode; undefined for what it does not record. */
export function gitMode(entry: Entry | undefined): string | undefined {
  switch (entry?.kind) {
    case 'symlink':
      return '120000';
    case 'file':
      return (entry.mode & 0o100) !== 0 ? '100755' : '100644';
    default:
      return undefined;
  }
}
