import type { OperationId } from '../../domain/ids.ts';
import { joinRel, parentOf, type RelPath } from '../../domain/rel-path.ts';

/** Names beside a path under which a restore keeps things while it works. */
export interface Temporaries {
  /** what lay at the path and was moved out of the way */
  readonly old: RelPath;
  /** what is to lie at the path */
  readonly fresh: RelPath;
  /** what the restore itself had put at the path, while `old` is put back */
  readonly put: RelPath;
}

/** Names the temporaries of the `n`th action of an operation, in the directory of its path. */
export function temporariesOf(path: RelPath, operationId: OperationId, n: number): Temporaries {
  const name = (suffix: string) => joinRel(parentOf(path), `.waymark-restore-${operationId}-${n}.${suffix}`);
  return { old: name('old'), fresh: name('new'), put: name('put') };
}

/** Tells whether a base name is that of a restore's temporary. */
export function isRestoreTemporary(name: string): boolean {
  return /^\.waymark-restore-[0-9A-Z]{26}-\d+\.(?:old|new|put)$/.test(name);
}
