import type { StoreProblem } from '../../stores/snapshot-store.ts';
import { pathJson } from './path-json.ts';

/** Something that verification found wrong, as JSON. */
export function problemJson({ where, code, message, checkpointId, path }: StoreProblem) {
  return {
    where,
    code,
    message,
    checkpoint_id: checkpointId ?? null,
    path: path === undefined ? null : pathJson(path),
  };
}
