import { WaymarkError } from '../../domain/errors.ts';
import { isUlid, type RunId } from '../../domain/ids.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Endings that would collide with a record, a git ref lock, a ref rule or a lock's journal. */
const RESERVED_ENDINGS = ['.json', '.lock', '.', '-journal'];

/**
 * Reads the name of a run that gets a worktree: also a directory name, the last part of a branch name and of a lock name.
 *
 * @throws WaymarkError `VALIDATION_ERROR`
 */
export function parseRunName(text: string): RunId {
  const lower = text.toLowerCase();
  if (!NAME.test(text) || text.includes('..') || RESERVED_ENDINGS.some((ending) => lower.endsWith(ending))) {
    throw new WaymarkError('VALIDATION_ERROR', `"${text}" cannot name a worktree`, {
      hint: 'Names start with a letter or digit, then up to 127 of A-Z a-z 0-9 . _ - (no "..", and not ending in ".", ".json", ".lock" or "-journal")',
    });
  }
  return text as RunId;
}

/** The id of the plan that a worktree is the sandbox of; undefined: of none. Plans alone name worktrees so. */
export function sandboxPlanOf(runId: RunId): string | undefined {
  const id = /^plan-([0-9a-z]{26})$/.exec(runId)?.[1]?.toUpperCase();
  return id !== undefined && isUlid(id) ? id : undefined;
}

/** Short name of the one branch that a run's worktree gets. */
export function branchOf(runId: RunId): string {
  return `waymark/${runId}`;
}

/** Full ref name of {@link branchOf}. */
export function branchRefOf(runId: RunId): string {
  return `refs/heads/${branchOf(runId)}`;
}
