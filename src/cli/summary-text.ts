import type { ChangeSummary } from '../domain/diff.ts';

const PARTICIPLES: Readonly<Record<keyof ChangeSummary, string>> = {
  create: 'created',
  modify: 'modified',
  delete: 'deleted',
  mode: 'mode changed',
  type: 'type changed',
};

/** `2 created, 1 deleted`; empty where nothing changed. */
export function summaryText(summary: ChangeSummary): string {
  return Object.entries(PARTICIPLES)
    .filter(([action]) => summary[action as keyof ChangeSummary] > 0)
    .map(([action, participle]) => `${summary[action as keyof ChangeSummary]} ${participle}`)
    .join(', ');
}
