import { WaymarkError } from '../../domain/errors.ts';
import type { RelPath } from '../../domain/rel-path.ts';
import type { Limits } from '../../domain/rules.ts';
import type { ScopeProposal } from '../api/status.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';
import { liveScope } from '../workspace/live-scope.ts';
import { observe } from './present.ts';

const MIB = 1024 ** 2;
const LARGEST_NAMED = 10;
const NO_LIMITS: Limits = {
  maxFileBytes: Number.MAX_SAFE_INTEGER,
  maxTotalBytes: Number.MAX_SAFE_INTEGER,
  maxFiles: Number.MAX_SAFE_INTEGER,
};

/** Measures what is in scope and proposes limits that hold it with room to grow. */
export async function proposeLimits(context: WorkspaceContext): Promise<ScopeProposal> {
  const scope = liveScope(context);
  const observation = await observe(context, undefined, { ...scope, limits: NO_LIMITS });
  if (observation.kind !== 'observed') {
    throw new WaymarkError(
      'INTERNAL',
      `The walk of ${context.identity.path} stopped at a limit that was not set`,
    );
  }
  const sizes: { readonly path: RelPath; readonly size: number }[] = [];
  for (const { path, node } of observation.draft.edits) {
    if (node?.kind === 'pending') sizes.push({ path, size: node.statedSize });
    if (node?.kind === 'file') sizes.push({ path, size: node.size });
  }
  const largest = sizes.toSorted((a, b) => b.size - a.size).slice(0, LARGEST_NAMED);
  const bytes = sizes.reduce((sum, { size }) => sum + size, 0);
  const present = scope.limits;
  return {
    files: sizes.length,
    bytes,
    largest,
    present,
    proposed: fitting(present, sizes.length, bytes, largest[0]?.size ?? 0),
  };
}

function fitting(present: Limits, files: number, bytes: number, largest: number): Limits | undefined {
  const proposed: Limits = {
    maxFileBytes: largest > present.maxFileBytes ? withRoom(largest, MIB) : present.maxFileBytes,
    maxTotalBytes: bytes > present.maxTotalBytes ? withRoom(bytes, 16 * MIB) : present.maxTotalBytes,
    maxFiles: files > present.maxFiles ? withRoom(files, 10_000) : present.maxFiles,
  };
  const fits =
    proposed.maxFileBytes === present.maxFileBytes &&
    proposed.maxTotalBytes === present.maxTotalBytes &&
    proposed.maxFiles === present.maxFiles;
  return fits ? undefined : proposed;
}

/** Half as much again, rounded up to whole steps. */
function withRoom(amount: number, step: number): number {
  return Math.ceil((amount * 1.5) / step) * step;
}
