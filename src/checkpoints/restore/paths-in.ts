import { readdirSync } from 'node:fs';
import { decodeName, joinRel, type RelPath, toFsPath } from '../../domain/rel-path.ts';

/** The paths of everything that lies in a directory of the workspace, `.git` included; undefined where its names can't be had. */
export function pathsIn(root: string, directory: RelPath): readonly RelPath[] | undefined {
  try {
    const names = readdirSync(toFsPath(`${root}/${directory}`), 'buffer');
    return names.map((name) => joinRel(directory, decodeName(name)));
  } catch {
    return undefined;
  }
}
