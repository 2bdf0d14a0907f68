import { readdirSync } from 'node:fs';
import { decodeName, joinRel, type RelPath, toFsPath } from '../../domain/rel-path.ts';
import { isRestoreTemporary } from '../../restore/apply/temporaries.ts';

/** Finds the temporaries that restores left anywhere below a directory, but in `.git`; what can't be listed is passed over. */
export function findLeftovers(root: string): readonly RelPath[] {
  return [...leftoversBelow(root, '')].sort();
}

function* leftoversBelow(root: string, directory: RelPath | ''): Generator<RelPath> {
  for (const entry of list(`${root}/${directory}` as RelPath)) {
    const name = decodeName(entry.name);
    const path = joinRel(directory, name);
    if (isRestoreTemporary(name)) yield path;
    else if (entry.isDirectory() && name.toLowerCase() !== '.git') yield* leftoversBelow(root, path);
  }
}

function list(directory: RelPath) {
  try {
    return readdirSync(toFsPath(directory), { withFileTypes: true, encoding: 'buffer' });
  } catch {
    return [];
  }
}
