import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { FileReading } from '../domain/draft.ts';
import type { ContentHash } from '../domain/ids.ts';
import type { RelPath } from '../domain/rel-path.ts';
import type { SnapshotNode } from '../domain/snapshot.ts';
import type { Observation } from './observation.ts';

const FILES_BETWEEN_PAUSES = 64;

/**
 * Reads the files an observation left pending and gives their final nodes, storing nothing: for previews and for diffs with the workspace
 * as it is. Undefined: the file is gone.
 */
export async function hashPending(
  observation: Observation & { readonly kind: 'observed' },
): Promise<ReadonlyMap<RelPath, SnapshotNode | undefined>> {
  const { edits, read } = observation.draft;
  const nodes = new Map<RelPath, SnapshotNode | undefined>();
  for (const { path, node } of edits) {
    if (node?.kind !== 'pending') continue;
    nodes.set(path, hashReading(read(path)));
    if (nodes.size % FILES_BETWEEN_PAUSES === 0) await setImmediate();
  }
  return nodes;
}

function hashReading(reading: FileReading): SnapshotNode | undefined {
  if (!reading.ok) return reading.node;
  const { content, size, mtimeNs, mode } = reading;
  const hash = hashOf(content);
  if (typeof content === 'function' && hashOf(content) !== hash) {
    return { kind: 'observed', reason: 'unstable', what: 'file', size };
  }
  return { kind: 'file', hash, size, mtimeNs, mode };
}

function hashOf(content: Buffer | (() => Iterable<Buffer>)): ContentHash {
  const hash = createHash('sha256');
  if (typeof content === 'function') for (const chunk of content()) hash.update(chunk);
  else hash.update(content);
  return hash.digest('hex') as ContentHash;
}
