import { isWaymarkError } from '../../domain/errors.ts';
import type { CheckpointId } from '../../domain/ids.ts';
import type { HomeContext } from '../workspace/home-context.ts';

/** Notes whether a checkpoint can be restored, unless it was dropped meanwhile. */
export function noteRestorable({ catalog }: HomeContext, id: CheckpointId, restorable: boolean): void {
  try {
    catalog.setRestorable(id, restorable);
  } catch (error) {
    if (!isWaymarkError(error, 'CHECKPOINT_NOT_FOUND')) throw error;
  }
}
