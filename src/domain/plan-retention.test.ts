import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CheckpointId, SessionId } from './ids.ts';
import {
  type CheckpointRetentionPolicy,
  checkpointRetentionPolicy,
  decidePlanRetention,
} from './plan-retention.ts';

const ids = (count: number) =>
  Array.from({ length: count }, (_, seq) => ({
    id: `C${seq}` as CheckpointId,
    sessionId: 's' as SessionId,
    seq,
    createdAt: new Date(seq * 1000).toISOString(),
  }));

const keptOf = (count: number, policy: CheckpointRetentionPolicy, kept: readonly string[] = []) =>
  decidePlanRetention(ids(count), policy, new Set(kept as CheckpointId[]))
    .filter(({ keep }) => keep)
    .map(({ id }) => id);

describe('decidePlanRetention()', () => {
  test('removes the oldest interior checkpoints', () => {
    expect(keptOf(5, { maxCheckpoints: 3, autoPrune: true })).toEqual(['C0', 'C3', 'C4']);
  });

  test('keeps everything up to the limit', () => {
    expect(keptOf(3, { maxCheckpoints: 3, autoPrune: true })).toEqual(['C0', 'C1', 'C2']);
    expect(keptOf(0, { maxCheckpoints: 3, autoPrune: true })).toEqual([]);
  });

  test('keeps first and newest although the limit is 1', () => {
    expect(keptOf(5, { maxCheckpoints: 1, autoPrune: true })).toEqual(['C0', 'C4']);
    expect(keptOf(1, { maxCheckpoints: 1, autoPrune: true })).toEqual(['C0']);
  });

  test('keeps what is always kept beyond the limit', () => {
    expect(keptOf(5, { maxCheckpoints: 3, autoPrune: true }, ['C1'])).toEqual(['C0', 'C1', 'C3', 'C4']);
  });

  test('removes nothing without auto_prune', () => {
    expect(keptOf(200, { maxCheckpoints: 1, autoPrune: false })).toHaveLength(200);
  });

  test.each([0, 101, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses a limit of %s', (limit) => {
    expect(() => checkpointRetentionPolicy({ maxCheckpoints: limit })).toThrow(/not 1 to 100/);
    expect(() => decidePlanRetention([], { maxCheckpoints: limit, autoPrune: true })).toThrow(/not 1 to 100/);
  });

  test('is 50 with auto_prune unless told otherwise', () => {
    expect(checkpointRetentionPolicy()).toEqual({ maxCheckpoints: 50, autoPrune: true });
  });

  test('keeps at most max(limit, 2) plus the kept, both ends always, oldest interior gone first', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 150 }),
        fc.integer({ min: 1, max: 100 }),
        fc.array(fc.nat(149), { maxLength: 20 }),
        fc.array(fc.nat(1000), { maxLength: 150 }),
        (count, maxCheckpoints, pins, shuffle) => {
          const all = ids(count);
          const kept = new Set(pins.map((pin) => `C${pin}` as CheckpointId));
          const mixed = all.toSorted((a, b) => (shuffle[a.seq] ?? 0) - (shuffle[b.seq] ?? 0));
          const decisions = decidePlanRetention(mixed, { maxCheckpoints, autoPrune: true }, kept);
          expect(decisions.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
          expect(decisions.every(({ reasons }) => reasons.length > 0)).toBe(true);
          const left = decisions.filter(({ keep }) => keep);
          expect(left.length).toBeLessThanOrEqual(Math.max(maxCheckpoints, 2) + kept.size);
          expect(left.length).toBeGreaterThanOrEqual(Math.min(count, Math.max(maxCheckpoints, 2)));
          if (count > 0) {
            expect(decisions[0]?.keep).toBe(true);
            expect(decisions.at(-1)?.keep).toBe(true);
          }
          for (const { id, keep } of decisions) if (kept.has(id)) expect(keep).toBe(true);
          const interior = decisions.slice(1, -1).filter(({ id }) => !kept.has(id));
          const firstKept = interior.findIndex(({ keep }) => keep);
          if (firstKept >= 0) expect(interior.slice(firstKept).every(({ keep }) => keep)).toBe(true);
        },
      ),
    );
  });
});
