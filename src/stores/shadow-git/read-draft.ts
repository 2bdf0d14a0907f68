import type { SnapshotDraft } from '../../domain/draft.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import { encodeName } from '../../domain/rel-path.ts';
import type { SnapshotNode } from '../../domain/snapshot.ts';
import type { TreeEdit } from '../entry-tree/edit-tree.ts';
import { blobName, type FastImport, type ObjectName } from './fast-import.ts';
import type { StoredBlob } from './object-map.ts';
import { storeFile } from './store-file.ts';

/** A draft with every file read and its bytes on their way into the repository. */
export interface ReadDraft {
  readonly edits: readonly TreeEdit[];
  readonly read: ReadonlyMap<RelPath, SnapshotNode | undefined>;
  readonly blobs: readonly StoredBlob[];
  /** blobs with the targets of symlinks, which is how git holds them */
  readonly links: ReadonlyMap<RelPath, ObjectName>;
}

/** Reads the pending files in order; each goes to the import before the next is read. */
export async function readDraft(draft: SnapshotDraft, importer: () => FastImport): Promise<ReadDraft> {
  const edits: TreeEdit[] = [];
  const read = new Map<RelPath, SnapshotNode | undefined>();
  const blobs: StoredBlob[] = [];
  const links = new Map<RelPath, ObjectName>();
  for (const edit of draft.edits) {
    const { path } = edit;
    let node: SnapshotNode | undefined;
    if (edit.node?.kind === 'pending') {
      const reading = draft.read(path);
      if (reading.ok) {
        const stored = await storeFile(reading, importer());
        if (stored.blob !== undefined) blobs.push(stored.blob);
        node = stored.node;
      } else node = reading.node;
      read.set(path, node);
    } else node = edit.node;
    if (node?.kind === 'symlink') {
      const target = encodeName(node.target);
      await importer().blob(target);
      links.set(path, blobName(target));
    }
    edits.push({ path, node });
  }
  return { edits, read, blobs, links };
}
