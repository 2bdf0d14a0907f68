import type { DirHash } from './ids.ts';

/** A directory tree under protection, known by its real path. */
export interface WorkspaceIdentity {
  /** real path, {@link decodeName} form */
  readonly path: string;
  readonly dirHash: DirHash;
  /** `dirHash` rule applied to the enclosing git top level, else to `path` */
  readonly projectHash: DirHash;
  /** inode number of the root, decimal */
  readonly inode: string;
  /** birth time of the root in ns, decimal, where the file system gives one */
  readonly birthtimeNs: string | undefined;
}

/** Tells whether the directory now at a workspace's path is the one recorded. */
export function isSameRoot(recorded: WorkspaceIdentity, present: WorkspaceIdentity): boolean {
  if (recorded.dirHash !== present.dirHash || recorded.inode !== present.inode) return false;
  return (
    recorded.birthtimeNs === undefined ||
    present.birthtimeNs === undefined ||
    recorded.birthtimeNs === present.birthtimeNs
  );
}
