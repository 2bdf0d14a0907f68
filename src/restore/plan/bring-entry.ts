import { type DirectoryEntry, type Entry, type FileEntry, sameEntry } from '../../domain/snapshot.ts';

/** What becomes of one path when a change made elsewhere is brought here. */
export type Brought =
  | { readonly kind: 'nothing' }
  /** undefined: the path goes */
  | { readonly kind: 'take'; readonly entry: Entry | undefined }
  /** both sides changed the content of one file; `mode` is what its bits become */
  | {
      readonly kind: 'merge';
      readonly base: FileEntry;
      readonly ours: FileEntry;
      readonly theirs: FileEntry;
      readonly mode: number;
    }
  | { readonly kind: 'conflict'; readonly detail: string };

const NOTHING: Brought = { kind: 'nothing' };

/**
 * Decides by the state where both sides began (`base`), the present one here (`ours`) and the one there (`theirs`). Content and permission bits
 * count by themselves: bits that only one side changed are that side's, so that another umask here is no conflict.
 */
export function bringEntry(
  base: Entry | undefined,
  ours: Entry | undefined,
  theirs: Entry | undefined,
): Brought {
  if (isSame(base, theirs)) return NOTHING;
  if (theirs?.kind === 'directory') return bringDirectory(base, ours, theirs);
  if (base?.kind === 'directory') return replaceDirectory(ours, theirs);
  if (ours === undefined) {
    if (base === undefined || theirs === undefined) return takeIfAny(theirs);
    return conflict('It was deleted here and changed there');
  }
  if (ours.kind === 'directory') return theirs === undefined ? NOTHING : conflict('It is a directory here');
  if (theirs === undefined) {
    return base !== undefined && sameContent(ours, base)
      ? take(undefined)
      : conflict('It was changed here and deleted there');
  }
  if (sameContent(ours, theirs)) return take(withMode(ours, mergedMode(base, ours, theirs)));
  if (base === undefined) return conflict('It was made here and there, differently');
  if (sameContent(ours, base)) return take(withMode(theirs, mergedMode(base, ours, theirs)));
  if (sameContent(base, theirs)) return take(withMode(ours, mergedMode(base, ours, theirs)));
  if (base.kind === 'file' && ours.kind === 'file' && theirs.kind === 'file') {
    return { kind: 'merge', base, ours, theirs, mode: mergedMode(base, ours, theirs) };
  }
  return conflict('It was changed here and there');
}

function isSame(a: Entry | undefined, b: Entry | undefined): boolean {
  return a === undefined || b === undefined ? a === b : sameEntry(a, b);
}

function bringDirectory(base: Entry | undefined, ours: Entry | undefined, theirs: DirectoryEntry): Brought {
  if (ours?.kind === 'directory') {
    if (base?.kind !== 'directory') return NOTHING;
    return take({ ...ours, mode: mergedMode(base, ours, theirs) });
  }
  if (ours === undefined) return base?.kind === 'directory' ? NOTHING : take(theirs);
  return base !== undefined && sameContent(ours, base) ? take(theirs) : conflict('It is no directory here');
}

/** A directory there became something else, or went. */
function replaceDirectory(ours: Entry | undefined, theirs: Entry | undefined): Brought {
  if (theirs === undefined) return ours?.kind === 'directory' ? take(undefined) : NOTHING;
  if (ours === undefined || ours.kind === 'directory') return take(theirs);
  return sameContent(ours, theirs) ? NOTHING : conflict('It is no directory any more, here and there');
}

function takeIfAny(theirs: Entry | undefined): Brought {
  return theirs === undefined ? NOTHING : take(theirs);
}

function take(entry: Entry | undefined): Brought {
  return { kind: 'take', entry };
}

function conflict(detail: string): Brought {
  return { kind: 'conflict', detail };
}

function sameContent(a: Entry, b: Entry): boolean {
  if (a.kind === 'file') return b.kind === 'file' && a.hash === b.hash;
  if (a.kind === 'symlink') return b.kind === 'symlink' && a.target === b.target;
  return b.kind === 'directory';
}

function mergedMode(base: Entry | undefined, ours: Entry, theirs: Entry): number {
  const [from, here, there] = [modeOf(base), modeOf(ours), modeOf(theirs)];
  if (here === undefined) return there ?? 0;
  if (from === undefined || there === undefined) return here;
  const changed = from ^ there;
  return (here & ~changed) | (there & changed);
}

function modeOf(entry: Entry | undefined): number | undefined {
  return entry === undefined || entry.kind === 'symlink' ? undefined : entry.mode;
}

function withMode(entry: Entry, mode: number): Entry {
  return entry.kind === 'symlink' ? entry : { ...entry, mode };
}
