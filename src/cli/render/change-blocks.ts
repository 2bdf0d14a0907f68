import type { ChangeAction } from '../../domain/diff.ts';
import { quotePath, type RelPath } from '../../domain/rel-path.ts';
import type { Skip } from '../../domain/snapshot.ts';
import type { Block } from './block.ts';

const MOST_ON_A_SCREEN = 200;

/** Changed paths, one a row. */
export function changeBlocks(
  changes: readonly { readonly path: RelPath; readonly action: ChangeAction }[],
  most = MOST_ON_A_SCREEN,
): readonly Block[] {
  if (changes.length === 0) return [];
  return [
    {
      kind: 'table',
      columns: [{ title: 'Action', tone: 'accent' }, { title: 'Path' }],
      rows: changes.map(({ path, action }) => [action, quotePath(path)]),
      most,
    },
  ];
}

/** Paths that were left alone, with the reason. */
export function skipBlocks(skips: readonly Skip[], most = MOST_ON_A_SCREEN): readonly Block[] {
  if (skips.length === 0) return [];
  return [
    {
      kind: 'table',
      columns: [{ title: 'Left alone', tone: 'warn' }, { title: 'Path' }, { title: 'Reason' }],
      rows: skips.map(({ path, reason, detail }) => [
        'skipped',
        quotePath(path),
        detail === undefined ? reason : `${reason}: ${detail}`,
      ]),
      most,
    },
  ];
}
