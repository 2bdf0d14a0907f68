import type { CheckpointName } from '../checkpoints/api/checkpoints.ts';
import type { Workspace } from '../checkpoints/api/workspace.ts';
import type { ResolvedSettings } from '../config/settings.ts';
import type { FileSystem } from '../platform/file-system.ts';
import type { WaymarkHome } from '../waymark-home.ts';
import type { Format } from './format.ts';
import type { Locations } from './locations.ts';
import type { Terminal } from './terminal.ts';

/** What a command may use. Everything costly is opened when it is first asked for. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly format: Format;
  /** real path */
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly locations: Locations;
  /** Aborted by an interrupt, for commands that asked for it. */
  readonly signal: AbortSignal;
  /** Opened by the first call, which alone may ask for a new catalog. */
  waymark(how?: { readonly rebuildCatalog: boolean }): Promise<WaymarkHome>;
  /** The directory of the workspace: `--workspace`, else found from the current one. */
  workspaceDirectory(): Promise<string>;
  workspace(): Promise<Workspace>;
  settings(): Promise<ResolvedSettings>;
  fileSystem(): Promise<FileSystem>;
  /** Tells whether a word names a session that has checkpoints. */
  isSession(word: string): Promise<boolean>;
}

export type { CheckpointName };
