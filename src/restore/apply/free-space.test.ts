import { expect, test } from 'vitest';
import type { ContentHash } from '../../domain/ids.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { RestoreAction } from '../plan/restore-plan.ts';
import { neededBytes, requireFreeSpace } from './free-space.ts';

function create(size: number): RestoreAction {
  const after = {
    kind: 'file',
    hash: 'a'.repeat(64) as ContentHash,
    size,
    mtimeNs: 1n,
    mode: 0o644,
  } as const;
  return { path: 'a' as RelPath, action: 'create', before: undefined, after };
}

const remove: RestoreAction = {
  path: 'b' as RelPath,
  action: 'delete',
  before: create(9).after,
  after: undefined,
};

test('neededBytes() counts whole blocks of what is written and nothing for what goes', () => {
  expect(neededBytes({ actions: [create(1), create(4097), remove] }, 4096)).toBe(3 * 4096);
  expect(neededBytes({ actions: [] }, 4096)).toBe(0);
});

test('CR-09: requireFreeSpace() refuses what does not fit', () => {
  const measure = () => ({ blockSize: 4096, availableBlocks: 2 });
  expect(() => requireFreeSpace('/w', { actions: [create(8192)] }, measure)).not.toThrow();
  expect(() => requireFreeSpace('/w', { actions: [create(8193)] }, measure)).toThrow(
    expect.objectContaining({ code: 'NO_SPACE', details: { needed_bytes: 12288, available_bytes: 8192 } }),
  );
  expect(() => requireFreeSpace('/', { actions: [create(2 ** 50)] })).toThrow(
    expect.objectContaining({ code: 'NO_SPACE' }),
  );
});
