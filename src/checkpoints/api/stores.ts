import type { EngineName } from '../../domain/checkpoint.ts';

/** A store as it lies on disk. `workspace` and `dirHash` are null where all workspaces share it, `workspace` also where it is not known. */
export interface StoreSummary {
  readonly engine: EngineName;
  readonly workspace: string | null;
  readonly dirHash: string | null;
  readonly place: string;
  readonly bytes: number;
  readonly checkpoints: number;
}

export interface RemoveStoreOptions {
  readonly engine: 'cas' | 'git';
  readonly confirm: (found: { readonly checkpoints: number }) => boolean | Promise<boolean>;
}

export interface StoreRemoval {
  readonly checkpoints: number;
  readonly bytesFreed: number;
}

export interface DoctorReport {
  readonly problems: readonly string[];
  readonly sweptCaptures: number;
  readonly rebuilt: boolean;
  /** Where the catalog lies that gave way to a new one, where that was asked for. */
  readonly replacedCatalog: string | undefined;
  readonly checkpoints: number;
}
