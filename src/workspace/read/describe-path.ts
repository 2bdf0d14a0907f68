import type { RelPath } from '../../domain/rel-path.ts';
import type { SnapshotNode } from '../../domain/snapshot.ts';
import { look, TYPE, typeOf } from '../walk/look.ts';
import { readTarget } from '../walk/row-settler.ts';
import { absoluteOf } from './absolute.ts';
import { hasPlainParents } from './open-inside.ts';

/**
 * What a path that was taken for a readable regular file is now. A directory comes without proof of what is in it. Undefined: nothing is
 * there, as it is where a directory above has become a link.
 */
export function describePath(root: string, path: RelPath): SnapshotNode | undefined {
  const absolute = absoluteOf(root, path);
  const stat = hasPlainParents(root, path) ? look(absolute) : undefined;
  if (stat === undefined) return undefined;
  if (stat === null) return { kind: 'observed', reason: 'unreadable', what: 'unknown', size: 0 };
  const mode = Number(stat.mode);
  switch (typeOf(mode)) {
    case TYPE.directory:
      return { kind: 'directory', mode: mode & 0o7777, mtimeNs: stat.mtimeNs, listing: 'partial' };
    case TYPE.symlink: {
      const target = readTarget(absolute);
      return target === undefined
        ? { kind: 'observed', reason: 'unstable', what: 'symlink', size: 0 }
        : { kind: 'symlink', target, mtimeNs: stat.mtimeNs };
    }
    case TYPE.file:
      return { kind: 'observed', reason: 'unreadable', what: 'file', size: Number(stat.size) };
    default:
      return { kind: 'observed', reason: 'special', what: 'special', size: 0 };
  }
}
