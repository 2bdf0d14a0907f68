import type { FileSystem } from '../../platform/file-system.ts';
import type { Displaced } from './apply-run.ts';
import { openTree } from './workspace-tree.ts';

/** Removes displaced entries once a checkpoint holds them. What is gone already is no error. */
export function discardDisplaced(root: string, fs: FileSystem, displaced: readonly Displaced[]): void {
  using tree = openTree(root);
  for (const { temporary } of displaced) {
    try {
      fs.unlink(tree.locate(temporary));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}
