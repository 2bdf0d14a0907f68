import type { ContentHash } from '../../../domain/ids.ts';

/** Last lines of the message of a commit that holds a snapshot. */
export function snapshotTrailer(root: ContentHash, rules: ContentHash): string {
  return `root ${root}\nrules ${rules}\n`;
}

/** Reads them back out of a commit object. */
export function parseSnapshotTrailer(
  text: string,
): { readonly root: ContentHash; readonly rules: ContentHash } | undefined {
  const found = /^root ([0-9a-f]{64})\nrules ([0-9a-f]{64})$/m.exec(text);
  if (found?.[1] === undefined || found[2] === undefined) return undefined;
  return { root: found[1] as ContentHash, rules: found[2] as ContentHash };
}
