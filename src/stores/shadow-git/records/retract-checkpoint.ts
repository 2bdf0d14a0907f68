import type { CheckpointId } from '../../../domain/ids.ts';
import type { ObjectReader } from '../repository/object-reader.ts';
import type { ShadowContext } from '../repository/shadow-context.ts';
import { deleteRefs, readRefs } from './checkpoint-refs.ts';
import { writeTable } from './checkpoint-table.ts';
import { removePin } from './pins.ts';
import { contentRef, manifestRef } from './ref-names.ts';

/** Takes away a checkpoint's refs, also those of one that was never published whole, its pin and its row. Call under the stage lock. */
export async function retractCheckpoint(
  context: ShadowContext,
  reader: ObjectReader,
  id: CheckpointId,
): Promise<void> {
  const { checkpoints, leftovers } = await readRefs(context, reader);
  const own = [contentRef(id), manifestRef(id)];
  const others = checkpoints.filter((checkpoint) => checkpoint.id !== id);
  const isPublished = others.length < checkpoints.length;
  await deleteRefs(context, isPublished ? own : leftovers.filter((ref) => own.includes(ref)));
  removePin(context, id);
  if (isPublished) writeTable(context, others);
}
