import { lstatSync } from 'node:fs';
import { expect, test } from 'vitest';
import { WorkspaceScene } from '../../../test/support/workspace-scene.ts';
import { ENTER, RowSettler } from './row-settler.ts';
import { TreeTable } from './tree-table.ts';

test('RowSettler does not enter directories of other devices', () => {
  const scene = new WorkspaceScene();
  scene.mkdir('mounted');
  const table = new TreeTable(1);
  table.blank(table.reserve(1), 'mounted');
  const stat = lstatSync(scene.path('mounted'), { bigint: true });
  const settlerOn = (device: bigint) =>
    new RowSettler(table, {
      root: scene.root,
      device,
      maxFileBytes: 1,
      reread: new Set(),
      isStored: undefined,
    });
  expect(settlerOn(stat.dev).settleDirectory(0, stat, false)).toBe(ENTER.read);
  expect(settlerOn(stat.dev + 1n).settleDirectory(0, stat, false)).toBe(ENTER.no);
  expect(table.reasonAt(0)).toBe('other_device');
});
