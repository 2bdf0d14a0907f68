import type { Checkpoint } from '../../domain/checkpoint.ts';
import { isWaymarkError } from '../../domain/errors.ts';
import { compileScope, type Scope } from '../../workspace/scope/scope.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { settledRow } from './settled-row.ts';

/** The scope that puts nothing in scope: stands for rules that can't be read, so that nothing is deleted on their account. */
const NOTHING: Scope = { reasonToSkip: () => 'truncated', isSecret: () => false };

/**
 * The rules of every snapshot of the workspace since a checkpoint, each distinct set once. A restore deletes only what all of them put in scope.
 * That a checkpoint was taken of some paths only does not count as a rule.
 */
export async function scopesBetween(context: WorkspaceContext, since: Checkpoint): Promise<readonly Scope[]> {
  const scopes = new Map<string, Scope>();
  for (const checkpoint of context.catalog.checkpoints({ dirHash: context.identity.dirHash })) {
    const key = `${checkpoint.engine} ${checkpoint.snapshot.rules}`;
    if (checkpoint.createdAt < since.createdAt || checkpoint.id === since.id || scopes.has(key)) continue;
    scopes.set(key, await scopeOf(context, checkpoint));
  }
  return [...scopes.values()];
}

async function scopeOf(context: WorkspaceContext, checkpoint: Checkpoint): Promise<Scope> {
  try {
    const store = context.store(checkpoint.engine, checkpoint.workspace);
    const { snapshot } = (await settledRow(context, checkpoint)) ?? checkpoint;
    const { rules } = await store.open(snapshot);
    return compileScope({ ...rules, selection: [] });
  } catch (error) {
    if (
      !isWaymarkError(
        error,
        'OBJECT_MISSING',
        'OBJECT_CORRUPT',
        'MANIFEST_INVALID',
        'STORE_CORRUPT',
        'GIT_NOT_FOUND',
      )
    )
      throw error;
    context.warn(
      `The rules of checkpoint ${checkpoint.id} can't be read, so nothing is deleted that was added since: ${error.message}`,
    );
    return NOTHING;
  }
}
