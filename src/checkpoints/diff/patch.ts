import type { PatchOptions } from '../api/diff.ts';
import { readSide } from '../history/read-side.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { diffCheckpoints } from './diff-checkpoints.ts';
import { formatPatch } from './format-patch.ts';
import { MAX_PATCHED, unpatchable } from './unpatchable.ts';

/** A diff that `git apply` takes, one path at a time. */
export async function* patch(context: WorkspaceContext, options: PatchOptions): AsyncGenerator<string> {
  const diff = await diffCheckpoints(context, options);
  for (const warning of unpatchable(diff.changes, diff.skipped)) options.onWarning?.(warning);
  for (const change of diff.changes) {
    const from = await readSide(context, diff.from, change.path, change.from, MAX_PATCHED);
    const to = await readSide(context, diff.to, change.path, change.to, MAX_PATCHED);
    yield* formatPatch(change, from, to);
  }
}
