import { expect, test } from 'vitest';
import { viewOf } from '../../test/support/snapshot-views.ts';
import { pairNodes } from '../domain/diff.ts';
import type { ContentHash } from '../domain/ids.ts';
import type { FileEntry, Observed, SnapshotNode } from '../domain/snapshot.ts';
import { unheldByRestore } from './unheld-paths.ts';

const stored: FileEntry = {
  kind: 'file',
  hash: '1'.repeat(64) as ContentHash,
  size: 1,
  mtimeNs: 1n,
  mode: 0o644,
};
const directory: SnapshotNode = { kind: 'directory', mode: 0o755, mtimeNs: 1n, listing: 'complete' };
const seen = (reason: Observed['reason'], what: Observed['what'] = 'file'): Observed => ({
  kind: 'observed',
  reason,
  what,
  size: 9,
});

test('unheldByRestore() names what a restore would overwrite and the present does not hold', () => {
  const target = viewOf([
    ['a.log', stored],
    ['big', stored],
    ['secret', stored],
    ['dist', directory],
    ['dist/x', stored],
    ['same', stored],
    ['gone', stored],
    ['build', stored],
  ]);
  const present = viewOf([
    ['a.log', seen('ignored')],
    ['big', seen('over_cap')],
    ['secret', seen('secret')],
    ['dist', seen('pruned', 'directory')],
    ['same', stored],
    ['build', seen('pruned', 'directory')],
    ['new.log', seen('ignored')],
  ]);
  const pairs = () => pairNodes(target.nodes(), present.nodes());
  const all = unheldByRestore({ target, present, pairs: pairs(), selection: { paths: [] } });
  expect([...all]).toEqual(['a.log', 'big', 'dist/x']);
  const some = unheldByRestore({ target, present, pairs: pairs(), selection: { paths: ['dist'] } });
  expect([...some]).toEqual(['dist/x']);
});
