import { describe, expect, test } from 'vitest';
import type { Decision } from './decision.ts';
import { fateAt } from './decision-fate.ts';

const decision = (change: Partial<Decision>) =>
  ({ kind: 'shell', mark: null, markedSeq: null, startedSeq: 5, finishedSeq: 8, ...change }) as Decision;

describe('fateAt()', () => {
  test.each([
    ['finished before', decision({}), 9, 'kept'],
    ['started after', decision({}), 4, 'undone'],
    ['in its middle', decision({}), 6, 'undone'],
    ['never started', decision({ startedSeq: null, finishedSeq: null }), 9, 'undone'],
    ['started, not finished', decision({ finishedSeq: null }), 9, 'undone'],
    ['subplan in its middle', decision({ kind: 'subplan' }), 6, 'reopened'],
    ['parallel under way', decision({ kind: 'parallel', finishedSeq: null }), 6, 'reopened'],
    ['marked before', decision({ mark: 'rolled_back', markedSeq: 10 }), 12, 'gone'],
    ['marked at that very event', decision({ mark: 'rolled_back', markedSeq: 10 }), 10, 'kept'],
    ['marked later', decision({ mark: 'superseded', markedSeq: 20 }), 9, 'kept'],
    ['marked later, started later', decision({ mark: 'superseded', markedSeq: 20 }), 3, 'undone'],
  ])('%s', (_, subject, seq, fate) => {
    expect(fateAt(subject, seq)).toBe(fate);
  });
});
