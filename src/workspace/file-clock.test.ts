import { expect, test } from 'vitest';
import { WorkspaceScene } from '../../test/support/workspace-scene.ts';
import { fileClock, fileClockOf } from './file-clock.ts';
import { trustSettled } from './walk/next-cache.ts';
import { FLAG, TreeTable } from './walk/tree-table.ts';

const START_MS = 1_764_550_000_123.5;
const start = 1_764_550_000_123n * 1_000_000n;

test('fileClock() trusts times 20 ms older than the start, both of them', () => {
  const { isSettled } = fileClock(true);
  expect(isSettled(start - 20_000_001n, start - 20_000_001n, START_MS)).toBe(true);
  expect(isSettled(start - 20_000_000n, start - 99_999_999n, START_MS)).toBe(false);
  expect(isSettled(1n, start - 20_000_000n, START_MS)).toBe(false);
  expect(isSettled(start + 10n ** 18n, 1n, START_MS)).toBe(false);
});

test('fileClock() wants 2 s where ctime has whole seconds', () => {
  const { isSettled } = fileClock(true);
  const second = (start / 1_000_000_000n) * 1_000_000_000n;
  expect(isSettled(1n, second - 1_000_000_000n, START_MS)).toBe(false);
  expect(isSettled(1n, second - 2_000_000_000n, START_MS)).toBe(true);
});

test('trustSettled() wants two sightings 2 s apart where the clock is not ours', () => {
  const foreign = fileClock(false);
  const table = new TreeTable(1);
  table.blank(table.reserve(1), '');
  table.mtime[0] = 1n;
  table.ctime[0] = 1n;
  expect(trustSettled(table, foreign, START_MS, undefined)).toBe(false);
  table.set(0, FLAG.steady);
  expect(trustSettled(table, foreign, START_MS, START_MS - 1999)).toBe(false);
  expect(trustSettled(table, foreign, START_MS, START_MS - 2000)).toBe(true);
});

test('fileClockOf() knows the file systems this machine stamps itself', () => {
  expect(fileClockOf(new WorkspaceScene().root).isOurs).toBe(true);
  expect(fileClockOf('/dev/shm').isOurs).toBe(true);
  expect(fileClockOf('/proc').isOurs).toBe(false);
});
