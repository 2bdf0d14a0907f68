import { isWaymarkError, WaymarkError } from '../../domain/errors.ts';
import type { OperationId } from '../../domain/ids.ts';
import type { Operation } from '../../domain/operation.ts';
import { operationChanges, unknownChanges } from '../history/operation-changes.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';

/** What undos that finished, and were not themselves taken back by a redo, took back of other operations. */
export interface TakenBack {
  readonly wholly: ReadonlySet<OperationId>;
  /** some paths only: others were changed since, or not asked for */
  readonly partly: ReadonlySet<OperationId>;
}

export function takenBack(context: WorkspaceContext, operations: readonly Operation[]): TakenBack {
  const finished = operations.filter(({ status }) => status === 'done');
  const redone = new Set(finished.filter(({ kind }) => kind === 'redo').map(({ takesBack }) => takesBack));
  const undos = finished.filter(({ id, kind }) => kind === 'undo' && !redone.has(id));
  const targetsOf = (some: readonly Operation[]) =>
    new Set(
      some.flatMap(({ id, takesBack }) => (takesBack === null ? notedTargets(context, id) : [takesBack])),
    );
  const { whole = [], part = [] } = Object.groupBy(undos, ({ id }) =>
    context.catalog.note(partNote(id)) === undefined ? 'whole' : 'part',
  );
  const wholly = targetsOf(whole);
  return { wholly, partly: targetsOf(part).difference(wholly) };
}

/** Notes that an undo takes back some paths only. */
export function notePart(context: WorkspaceContext, undo: OperationId): void {
  context.catalog.setNote(partNote(undo), 'yes');
}

function partNote(undo: OperationId): string {
  return `takes-back-part:${undo}`;
}

/** Notes which operations the undo of a whole session took back. */
export function noteTargets(
  context: WorkspaceContext,
  undo: OperationId,
  targets: readonly OperationId[],
): void {
  context.catalog.setNote(`takes-back:${undo}`, targets.join(' '));
}

function notedTargets(context: WorkspaceContext, undo: OperationId): readonly OperationId[] {
  return (context.catalog.note(`takes-back:${undo}`)?.split(' ') ?? []) as OperationId[];
}

/**
 * The operation to undo: the named one, else the newest run, restore or apply that changed something and is not undone. One that was undone in part is
 * passed over unless `force` asks for the rest.
 */
export async function operationToUndo(
  context: WorkspaceContext,
  name: string | undefined,
  force: boolean,
): Promise<Operation> {
  const operations = context.catalog.operations({ dirHash: context.identity.dirHash });
  const { wholly, partly } = takenBack(context, operations);
  if (name !== undefined) return named(context, operations, wholly, name);
  for (const operation of operations) {
    const { id, kind, status } = operation;
    if (!isUndoable(kind, status) || wholly.has(id) || (partly.has(id) && !force)) continue;
    if (!(await changedNothing(context, operation))) return operation;
  }
  throw new WaymarkError('NOTHING_TO_UNDO', `Nothing to undo in ${context.identity.path}`, {
    hint: 'To go back to a checkpoint: waymark checkpoints restore',
  });
}

/** The undo to redo: the newest that was not redone, with the operations it took back. */
export function operationToRedo(context: WorkspaceContext): Operation {
  const operations = context.catalog.operations({ dirHash: context.identity.dirHash });
  const redone = new Set(
    operations
      .filter(({ kind, status }) => kind === 'redo' && status === 'done')
      .map(({ takesBack }) => takesBack),
  );
  const newest = operations.find(
    ({ id, kind, status }) => kind === 'undo' && status === 'done' && !redone.has(id),
  );
  if (newest !== undefined) return newest;
  throw new WaymarkError('NOTHING_TO_UNDO', `Nothing to redo in ${context.identity.path}`);
}

function named(
  context: WorkspaceContext,
  operations: readonly Operation[],
  undone: ReadonlySet<OperationId>,
  name: string,
): Operation {
  const upper = name.toUpperCase();
  const matches = operations.filter(
    ({ id, runId }) =>
      id === upper || (upper.length >= 6 && (id.startsWith(upper) || id.endsWith(upper))) || runId === name,
  );
  const [only, second] = matches.filter(({ kind }) => kind !== 'undo' && kind !== 'redo');
  if (only === undefined) {
    throw new WaymarkError(
      'OPERATION_NOT_FOUND',
      `No operation of ${context.identity.path} to undo is named "${name}"`,
      {
        hint: 'See: waymark operations',
      },
    );
  }
  if (second !== undefined)
    throw new WaymarkError('AMBIGUOUS_ID', `"${name}" means ${matches.length} operations`);
  if (undone.has(only.id))
    throw new WaymarkError('NOTHING_TO_UNDO', `Operation ${only.id} is already undone`);
  if (only.status === 'open')
    throw new WaymarkError('UNDO_IMPOSSIBLE', `Operation ${only.id} is still going on`);
  return only;
}

/** An interrupted run may have changed anything; an interrupted restore was brought to one of its ends and is no step of its own. */
function isUndoable(kind: Operation['kind'], status: Operation['status']): boolean {
  if (kind === 'run') return status !== 'open';
  return (kind === 'restore' || kind === 'apply') && status === 'done';
}

/** Tells whether it is known that an operation changed nothing: its count alone is 0 too where the changes could not be told. */
async function changedNothing(context: WorkspaceContext, operation: Operation): Promise<boolean> {
  if (operation.changedCount > 0) return false;
  try {
    const changes = await operationChanges(context, operation);
    return changes.length === 0 && (await unknownChanges(context, operation)).length === 0;
  } catch (error) {
    if (!isWaymarkError(error)) throw error;
    return false;
  }
}
