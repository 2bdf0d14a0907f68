import { expect, test } from 'vitest';
import { parseReason, parseSource, preDesignGate, preQgFixRound, preWave } from './reasons.ts';

test('the builders spell the reasons of the seed', () => {
  expect([preDesignGate(), preWave(3), preQgFixRound(2)]).toEqual([
    'pre-design-gate',
    'pre-wave-3',
    'pre-qg-fix-round-2',
  ]);
  expect(() => preWave(1.5)).toThrow(/whole number/);
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
