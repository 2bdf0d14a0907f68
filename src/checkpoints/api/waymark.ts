import type { Checkpoint } from '../../domain/checkpoint.ts';
import type { ListFilter } from './checkpoints.ts';
import type { DoctorReport, StoreSummary } from './stores.ts';
import type { Workspace } from './workspace.ts';

/** One `WAYMARK_HOME`. */
export interface Waymark extends AsyncDisposable {
  readonly home: string;
  /** Opens the workspace at `directory`. Throws `WORKSPACE_NOT_FOUND`, `WORKSPACE_REFUSED` (`/`, home, temporary directory) unless `allowRoot`. */
  openWorkspace(directory: string, options?: { readonly allowRoot?: boolean }): Promise<Workspace>;
  /** The directory that a command started in `directory` means: see the reference, "which workspace". */
  findWorkspaceDirectory(directory: string): Promise<string>;
  /** Checkpoints of every workspace, newest first. */
  listCheckpoints(filter?: ListFilter): Promise<readonly Checkpoint[]>;
  /** Every store of the home. */
  stores(): Promise<readonly StoreSummary[]>;
  /** Sweeps what dead processes left and names what is damaged. To make the catalog anew, open with `rebuildCatalog`. */
  doctor(): Promise<DoctorReport>;
}
