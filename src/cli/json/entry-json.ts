import type { Entry, SnapshotNode } from '../../domain/snapshot.ts';
import { pathJson } from './path-json.ts';

/** A stored entry as JSON, null where there is none. `mode` is octal text, `mtime_ns` decimal text (it is beyond 2^53). */
export function entryJson(entry: Entry | undefined) {
  if (entry === undefined) return null;
  const mtime_ns = String(entry.mtimeNs);
  if (entry.kind === 'symlink') return { kind: entry.kind, target: pathJson(entry.target), mtime_ns };
  if (entry.kind === 'directory') return { kind: entry.kind, mode: modeText(entry.mode), mtime_ns };
  return { kind: entry.kind, hash: entry.hash, size: entry.size, mode: modeText(entry.mode), mtime_ns };
}

/** A stored entry, or why a path that was seen is not stored. */
export function nodeJson(node: SnapshotNode | undefined) {
  if (node?.kind !== 'observed') return entryJson(node);
  return { kind: node.kind, reason: node.reason, what: node.what, size: node.size };
}

/** Permission bits as four octal digits. */
export function modeText(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}
