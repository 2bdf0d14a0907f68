import type { RunResult } from '../checkpoints/api/runs.ts';
import type { WorktreeEnding } from '../checkpoints/api/worktrees.ts';
import type { Format } from './format.ts';
import { pathJson } from './json/path-json.ts';
import { changesText, runJson, say } from './run-summary.ts';

/** How a run in a worktree went, as far as it came: what it changed, and what became of the worktree. */
export interface WorktreeOutcome extends Partial<RunResult<number>> {
  readonly ending: WorktreeEnding;
}

/** Said after a command in a worktree has ended. One JSON line for `json` and `yaml`. */
export function worktreeSummary(outcome: WorktreeOutcome, format: Format, colors: boolean): string {
  const { ending } = outcome;
  if (format === 'json' || format === 'yaml') {
    const run = hasRun(outcome) ? runJson(outcome) : { run_id: ending.runId };
    return `${JSON.stringify({ ...run, worktree: endingJson(ending) })}\n`;
  }
  const lines = hasRun(outcome) ? [changesText(outcome, colors)] : [];
  return [...lines, ...endingLines(ending).map(([text, tone]) => say(text, colors, tone))].join('');
}

/** One line of what is said about a worktree. */
export function endingText(message: string, colors: boolean): string {
  return say(message, colors, 'dim');
}

type Line = readonly [text: string, tone?: 'plain' | 'dim' | 'warn' | 'strong'];

function endingLines(ending: WorktreeEnding): readonly Line[] {
  const { runId, path, branch, kept, outcome, reasons, finalCheckpoint, notices } = ending;
  const lines: Line[] = [];
  if (kept) {
    const why =
      outcome === 'interrupted'
        ? ' (the run was interrupted)'
        : outcome === 'failed'
          ? ' (the run failed)'
          : '';
    lines.push([`kept${why}: ${path} on branch ${branch}`, 'strong']);
    for (const reason of reasons) lines.push([`  ${reason}`, 'warn']);
    lines.push(
      [`  see what it changed:  waymark worktree diff ${runId}`],
      [`  bring it here:        waymark worktree apply ${runId}`],
      ...(outcome === 'succeeded'
        ? []
        : [[`  go on in it:          waymark exec --worktree --resume ${runId} -- CMD`] as const]),
      [`  remove it:            waymark worktree remove ${runId}`],
    );
  } else lines.push([`the run failed; its worktree ${path} and branch ${branch} were removed`, 'strong']);
  if (finalCheckpoint !== null) {
    const { id } = finalCheckpoint;
    lines.push([`its final state is checkpoint ${id}: waymark checkpoints restore ${id} --into DIR`]);
  }
  return [...lines, ...notices.map(({ message }): Line => [message, 'warn'])];
}

function endingJson(ending: WorktreeEnding) {
  return {
    path: pathJson(ending.path),
    branch: ending.branch,
    outcome: ending.outcome,
    kept: ending.kept,
    reasons: ending.reasons,
    final_checkpoint_id: ending.finalCheckpoint?.id ?? null,
    notices: ending.notices.map(({ message }) => message),
  };
}

function hasRun(outcome: WorktreeOutcome): outcome is WorktreeOutcome & RunResult<number> {
  return outcome.operation !== undefined;
}
