import { createHash } from 'node:crypto';
import { lstatSync, readlinkSync } from 'node:fs';
import type { FileReading } from '../../domain/draft.ts';
import type { ContentHash } from '../../domain/ids.ts';
import { ancestorsOf, decodeName, type RelPath, toFsPath } from '../../domain/rel-path.ts';
import type { SnapshotNode } from '../../domain/snapshot.ts';

/**
 * Looks at one path without following a link anywhere in it, whatever the scope says. Undefined: it is not there. A directory found
 * so proves no absence below it.
 */
export function lookAt(
  root: string,
  path: RelPath,
  read: (path: RelPath) => FileReading,
): SnapshotNode | undefined {
  for (const parent of ancestorsOf(path)) if (!statOf(root, parent)?.isDirectory()) return undefined;
  const stat = statOf(root, path);
  if (stat === undefined) return undefined;
  if (stat.isDirectory()) {
    return {
      kind: 'directory',
      mode: Number(stat.mode & 0o7777n),
      mtimeNs: stat.mtimeNs,
      listing: 'partial',
    };
  }
  if (stat.isSymbolicLink()) {
    const target = readlinkSync(toFsPath(`${root}/${path}`), { encoding: 'buffer' });
    return { kind: 'symlink', target: decodeName(target), mtimeNs: stat.mtimeNs };
  }
  if (!stat.isFile()) return { kind: 'observed', reason: 'special', what: 'special', size: 0 };
  return fileFrom(read(path));
}

function fileFrom(reading: FileReading): SnapshotNode | undefined {
  if (!reading.ok) return reading.node;
  const { content, size, mtimeNs, mode } = reading;
  const sha = createHash('sha256');
  for (const piece of typeof content === 'function' ? content() : [content]) sha.update(piece);
  return { kind: 'file', hash: sha.digest('hex') as ContentHash, size, mtimeNs, mode };
}

function statOf(root: string, path: RelPath) {
  return lstatSync(toFsPath(`${root}/${path}`), { bigint: true, throwIfNoEntry: false });
}
