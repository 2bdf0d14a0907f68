import { statfsSync } from 'node:fs';
import { WaymarkError } from '../../domain/errors.ts';
import { toFsPath } from '../../domain/rel-path.ts';
import type { RestorePlan } from '../plan/restore-plan.ts';

/** What a file system says of its free space. */
export interface FreeSpace {
  readonly blockSize: number;
  /** blocks that this user may still fill */
  readonly availableBlocks: number;
}

/** Bytes that new content takes while the old one is still there, in whole blocks, and one block for each new name. */
export function neededBytes(plan: Pick<RestorePlan, 'actions'>, blockSize: number): number {
  let blocks = 0;
  for (const { action, after } of plan.actions) {
    if (after === undefined || (action === 'mode' && after.kind === 'directory')) continue;
    blocks += after.kind === 'file' ? Math.ceil(after.size / blockSize) : 1;
  }
  return blocks * blockSize;
}

/**
 * Makes sure, before anything is written, that a plan's new content fits beside the old.
 *
 * @throws WaymarkError `NO_SPACE` with the bytes needed and available
 */
export function requireFreeSpace(
  root: string,
  plan: Pick<RestorePlan, 'actions'>,
  measure: (root: string) => FreeSpace = freeSpaceAt,
): void {
  const { blockSize, availableBlocks } = measure(root);
  const needed = neededBytes(plan, blockSize);
  const available = availableBlocks * blockSize;
  if (needed <= available) return;
  throw new WaymarkError('NO_SPACE', `The restore needs ${needed} bytes and ${root} has ${available} left`, {
    hint: 'Nothing was changed. Free some space, or restore some paths only',
    details: { needed_bytes: needed, available_bytes: available },
  });
}

function freeSpaceAt(root: string): FreeSpace {
  const { bsize, bavail } = statfsSync(toFsPath(root));
  return { blockSize: bsize, availableBlocks: bavail };
}
