import type { CheckpointId } from '../../../domain/ids.ts';

const CONTENT = 'refs/heads/';
const MANIFEST = 'refs/waymark/manifests/';
/** Snapshots that were written and belong to no checkpoint yet. */
export const PENDING = 'refs/waymark/pending/';

/** The short ref of a checkpoint: a branch, so that plain git lists and shows checkpoints. */
export function contentRef(id: CheckpointId): string {
  return CONTENT + id;
}

/** Holds the manifest and the entry tree. A checkpoint exists while it has both refs. */
export function manifestRef(id: CheckpointId): string {
  return MANIFEST + id;
}
