import type { DiffOptions } from '../api/diff.ts';
import { readSide } from '../history/read-side.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { diffCheckpoints } from './diff-checkpoints.ts';
import { formatPatch } from './format-patch.ts';

/** Files larger than this are said to differ, not compared line by line, bytes. */
const MAX_PATCHED = 1024 ** 2;

/** A unified diff that `git apply` takes, one path at a time; binary and large files are said to differ. */
export async function* patch(context: WorkspaceContext, options: DiffOptions): AsyncGenerator<string> {
  const diff = await diffCheckpoints(context, options);
  for (const change of diff.changes) {
    const from = await readSide(context, diff.from, change.path, change.from, MAX_PATCHED);
    const to = await readSide(context, diff.to, change.path, change.to, MAX_PATCHED);
    yield formatPatch(change, from, to);
  }
}
