import { WaymarkError } from './errors.ts';

/** Longest reason or source, in characters. */
export const MAX_REASON_LENGTH = 200;

/** The reasons that seed 002 names, so that consumers spell them alike. Rounds, waves, tasks and cycles count from 1. */
export const preDesignGate = (): string => 'pre-design-gate';
export const prePlanGate = (): string => 'pre-plan-gate';
export const preWave = (wave: number): string => numbered('pre-wave', wave);
export const preCleanupTask = (task: number): string => numbered('pre-cleanup-task', task);
export const preTemper = (): string => 'pre-temper';
export const preInquisitor = (): string => 'pre-inquisitor';
export const preImplGate = (): string => 'pre-impl-gate';
export const preQgFixRound = (round: number): string => numbered('pre-qg-fix-round', round);
export const preDebugFixCycle = (cycle: number): string => numbered('pre-debug-fix-cycle', cycle);
export const preWhereElse = (): string => 'pre-where-else';
export const preDebugGate = (): string => 'pre-debug-gate';
export const preRestoreSafety = (): string => 'pre-restore-safety';
export const preRestoreSafetyFile = (): string => 'pre-restore-safety-file';

/**
 * Checks a reason: up to 200 characters, no `|`, no control character; it may be empty.
 *
 * @throws WaymarkError `VALIDATION_ERROR`
 */
export function parseReason(text: string): string {
  return parseField('reason', text);
}

/** Checks a source by the rules of {@link parseReason}: both stand in the same table row and commit message. */
export function parseSource(text: string): string {
  return parseField('source', text);
}

function parseField(what: string, text: string): string {
  const problem =
    [...text].length > MAX_REASON_LENGTH
      ? `is longer than ${MAX_REASON_LENGTH} characters`
      : text.includes('|')
        ? 'contains "|"'
        : !text.isWellFormed() || /[\p{Cc}\u2028\u2029]/u.test(text)
          ? 'contains a control character'
          : undefined;
  if (problem === undefined) return text;
  throw new WaymarkError('VALIDATION_ERROR', `The ${what} ${JSON.stringify(text.slice(0, 60))} ${problem}`, {
    hint: `A ${what} is one line of up to ${MAX_REASON_LENGTH} characters without "|"; it may be empty`,
  });
}

function numbered(name: string, number: number): string {
  if (!Number.isSafeInteger(number) || number < 0) {
    throw new WaymarkError('VALIDATION_ERROR', `"${name}-${number}" needs a whole number`);
  }
  return `${name}-${number}`;
}
