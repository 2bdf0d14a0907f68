import type { DiffResult } from '../../checkpoints/api/diff.ts';
import { skipJson } from './checkpoint-json.ts';
import { entryJson } from './entry-json.ts';
import { pathJson } from './path-json.ts';

/** A comparison as JSON: `from` and `to` are checkpoint ids, `to` null for the workspace as it is. */
export function diffJson(diff: DiffResult) {
  return {
    from: diff.from.id,
    to: diff.to?.id ?? null,
    changes: diff.changes.map(({ path, action, from, to }) => ({
      path: pathJson(path),
      action,
      from: entryJson(from),
      to: entryJson(to),
    })),
    summary: diff.summary,
    skipped: diff.skipped.map(skipJson),
  };
}
