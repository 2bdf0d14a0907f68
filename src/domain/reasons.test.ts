import { expect, test } from 'vitest';
import * as reasons from './reasons.ts';

const { parseReason, parseSource } = reasons;

test('the builders spell the reasons of the seed', () => {
  expect([
    reasons.preDesignGate(),
    reasons.prePlanGate(),
    reasons.preWave(3),
    reasons.preCleanupTask(12),
    reasons.preTemper(),
    reasons.preInquisitor(),
    reasons.preImplGate(),
    reasons.preQgFixRound(2),
    reasons.preDebugFixCycle(1),
    reasons.preWhereElse(),
    reasons.preDebugGate(),
    reasons.preRestoreSafety(),
    reasons.preRestoreSafetyFile(),
  ]).toEqual([
    'pre-design-gate',
    'pre-plan-gate',
    'pre-wave-3',
    'pre-cleanup-task-12',
    'pre-temper',
    'pre-inquisitor',
    'pre-impl-gate',
    'pre-qg-fix-round-2',
    'pre-debug-fix-cycle-1',
    'pre-where-else',
    'pre-debug-gate',
    'pre-restore-safety',
    'pre-restore-safety-file',
  ]);
  expect(() => reasons.preWave(1.5)).toThrow(/whole number/);
});

test('parseReason() takes up to 200 characters, the empty reason and any script', () => {
  for (const reason of [
    '',
    'pre-wave-3',
    'vor dem Aufräumen',
    '公共 🚀',
    'x'.repeat(200),
    '🚀'.repeat(200),
  ]) {
    expect(parseReason(reason)).toBe(reason);
  }
});

test.each(['x'.repeat(201), 'a|b', 'a\nb', 'a\tb', '\0', '\u007f', '\u0085', '\u2028', '\udc80'])(
  'parseReason() and parseSource() refuse %j',
  (reason) => {
    expect(() => parseReason(reason)).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
    expect(() => parseSource(reason)).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
  },
);
