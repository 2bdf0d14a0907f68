import type { RunContext, RunResult } from '../checkpoints/api/runs.ts';
import { countText } from '../domain/count-text.ts';
import { makesPartial } from '../domain/coverage.ts';
import { quotePath } from '../domain/rel-path.ts';
import type { SkipReason } from '../domain/snapshot.ts';
import type { Format } from './format.ts';
import { pathJson } from './json/path-json.ts';
import { paint } from './render/paint.ts';
import { printable } from './render/printable.ts';
import { countsWithoutOwn } from './render/without-own.ts';
import { summaryText } from './summary-text.ts';

const MOST_PATHS = 20;

/** Said before the command starts: what its checkpoint does not cover. */
export function coverageLine(run: RunContext, colors: boolean): string {
  const warnings = run.warnings.map((warning) => say(warning, colors, 'warn'));
  if (run.before === null) {
    return [
      ...warnings,
      say('no checkpoint was taken: what this command does cannot be undone', colors, 'warn'),
    ].join('');
  }
  const { skipped } = run.before.coverage;
  const counts = countsWithoutOwn(run.before.coverage);
  const parts = Object.entries(counts).map(([reason, count]) => `${count} ${reason}`);
  if (parts.length === 0) return warnings.join('');
  const missing = skipped.filter(({ reason }) => makesPartial(reason)).slice(0, 3);
  const named = missing.length === 0 ? '' : `: ${missing.map(({ path }) => quotePath(path)).join(', ')}`;
  const tone = Object.keys(counts).some((reason) => makesPartial(reason as SkipReason)) ? 'warn' : 'dim';
  return [...warnings, say(`not covered: ${parts.join(', ')}${named}`, colors, tone)].join('');
}

/** Said after the command ended: what changed and how to take it back. One JSON line for `json` and `yaml`. */
export function runSummary(result: RunResult<number>, format: Format, colors: boolean): string {
  return format === 'json' || format === 'yaml'
    ? `${JSON.stringify(runJson(result))}\n`
    : `${changesText(result, colors)}${undoText(result, colors)}`;
}

/** A run as JSON. */
export function runJson(result: RunResult<number>) {
  return {
    run_id: result.runId,
    session_id: result.sessionId,
    operation_id: result.operation.id,
    status: result.operation.status,
    exit_status: result.value,
    before: result.before?.id ?? null,
    after: result.after?.id ?? null,
    changes: result.changes.map(({ path, action }) => ({ path: pathJson(path), action })),
    summary: result.summary,
    unheld: result.unheld.map(({ path }) => pathJson(path)),
    moved_refs: result.movedRefs,
    warnings: result.warnings,
  };
}

/** What a run changed, for people. */
export function changesText(result: RunResult<number>, colors: boolean): string {
  const { changes, changesKnown, summary, unheld, movedRefs, warnings } = result;
  const lines = warnings.map((warning) => say(warning, colors, 'warn'));
  if (!changesKnown) lines.push(say('what the command changed is not known', colors, 'warn'));
  else if (changes.length === 0)
    lines.push(say(unheld.length === 0 ? 'nothing changed' : 'nothing else changed', colors));
  else {
    lines.push(
      say(`${countText(changes.length, 'path')} changed: ${summaryText(summary)}`, colors, 'strong'),
    );
    for (const { action, path } of changes.slice(0, MOST_PATHS)) {
      lines.push(`  ${paint(action.padEnd(6), 'accent', colors)}  ${printable(quotePath(path))}\n`);
    }
    if (changes.length > MOST_PATHS) lines.push(`  … and ${changes.length - MOST_PATHS} more\n`);
  }
  for (const { ref, from, to } of movedRefs) {
    lines.push(
      say(`git ${ref} moved: ${refTarget(from)} -> ${refTarget(to)} (undo leaves it)`, colors, 'warn'),
    );
  }
  return lines.join('');
}

function undoText({ changes, operation }: RunResult<number>, colors: boolean): string {
  return changes.length === 0 ? '' : say(`take it back with: waymark undo ${operation.id}`, colors);
}

/** A commit in short, the ref that a symbolic one points to in full. */
function refTarget(value: string | null): string {
  if (value === null) return 'nothing';
  return /^[0-9a-f]{40,64}$/.test(value) ? value.slice(0, 8) : value.replace(/^ref:\s*/, '');
}

/** One line in our name. */
export function say(
  message: string,
  colors: boolean,
  tone: 'plain' | 'dim' | 'warn' | 'strong' = 'plain',
): string {
  return `${paint('waymark:', 'dim', colors)} ${paint(printable(message), tone, colors)}\n`;
}
