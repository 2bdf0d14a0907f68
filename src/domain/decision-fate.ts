import type { Decision } from './decision.ts';

/**
 * What going back to an earlier moment means for a decision: `kept` was finished then; `reopened` was under way (only what has steps of its own
 * can go on in the middle); `undone` had not begun; `gone` was marked before that moment and stays so.
 */
export type DecisionFate = 'kept' | 'reopened' | 'undone' | 'gone';

/**
 * Tells what a decision was at the moment of event `seq`. Later marks don't count: going back behind a rollback brings decisions back that it took.
 */
export function fateAt(decision: Decision, seq: number): DecisionFate {
  const { kind, mark, markedSeq, startedSeq, finishedSeq } = decision;
  if (mark !== null && markedSeq !== null && markedSeq < seq) return 'gone';
  if (startedSeq === null || startedSeq > seq) return 'undone';
  if (finishedSeq !== null && finishedSeq < seq) return 'kept';
  return kind === 'subplan' || kind === 'parallel' ? 'reopened' : 'undone';
}
