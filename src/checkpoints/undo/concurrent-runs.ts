import { isWaymarkError } from '../../domain/errors.ts';
import { namesText } from '../../domain/names-text.ts';
import type { Operation } from '../../domain/operation.ts';
import { quotePath, type RelPath } from '../../domain/rel-path.ts';
import type { RestorePlan } from '../../restore/plan/restore-plan.ts';
import { operationChanges } from '../history/operation-changes.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';

const MAX_NAMED = 10;

/**
 * Warns of runs that worked in the workspace at the same time as the operations to be taken back: a checkpoint can't tell who of them changed
 * a path, so the planned paths that changed during both may be theirs.
 */
export async function concurrentRuns(
  context: WorkspaceContext,
  targets: readonly Operation[],
  plan: RestorePlan,
): Promise<readonly string[]> {
  const runs = targets.filter(({ kind }) => kind === 'run');
  if (runs.length === 0 || plan.actions.length === 0) return [];
  const taken = new Set(targets.map(({ id }) => id));
  const others = context.catalog
    .operations({ dirHash: context.identity.dirHash })
    .filter(
      (other) => other.kind === 'run' && !taken.has(other.id) && runs.some((run) => overlap(run, other)),
    );
  const planned = new Set(plan.actions.map(({ path }) => path));
  const warnings: string[] = [];
  for (const other of others) {
    const changed = await changedBy(context, other);
    const shared = changed?.filter((path) => planned.has(path)) ?? [];
    if (changed !== undefined && shared.length === 0) continue;
    warnings.push(
      `Run ${other.id} ("${other.description}") went on at the same time and may have made these changes${namesOf(shared)}`,
    );
  }
  return warnings;
}

/** A run inside another, of the same session, is a part of it. */
function overlap(a: Operation, b: Operation): boolean {
  const end = ({ finishedAt }: Operation) => finishedAt ?? '9999';
  if (a.startedAt >= end(b) || b.startedAt >= end(a)) return false;
  const within = (inner: Operation, outer: Operation) =>
    inner.startedAt >= outer.startedAt && end(inner) <= end(outer);
  return a.sessionId !== b.sessionId || !(within(a, b) || within(b, a));
}

/** Undefined: not known. */
async function changedBy(
  context: WorkspaceContext,
  operation: Operation,
): Promise<readonly RelPath[] | undefined> {
  try {
    return (await operationChanges(context, operation)).map(({ path }) => path);
  } catch (error) {
    if (!isWaymarkError(error)) throw error;
    return undefined;
  }
}

function namesOf(paths: readonly RelPath[]): string {
  return paths.length === 0 ? '' : `: ${namesText(paths.map(quotePath), MAX_NAMED)}`;
}
