import type { EngineName } from '../domain/checkpoint.ts';
import type { Limits } from '../domain/rules.ts';

export const TRIGGERS = ['on_tool_write', 'on_tool_write_complete', 'on_subplan_spawn', 'on_error'] as const;
export type Trigger = (typeof TRIGGERS)[number];

/** Effective settings of one workspace. */
export interface Settings {
  readonly engine: EngineName;
  readonly limits: Limits;
  readonly scope: { readonly include: readonly string[]; readonly exclude: readonly string[] };
  readonly retention: {
    /** newest checkpoints kept per session (default 20) */
    readonly keep: number;
    /** on the git engine, per store (default 50) */
    readonly gitKeep: number;
    readonly maxAgeMs: number;
    readonly maxStoreBytes: number;
  };
  readonly autoCreateOn: readonly Trigger[];
  readonly maxCheckpoints: number;
  readonly autoPrune: boolean;
  /** only from the user's file or a trusted one */
  readonly restoreVerify: string | undefined;
  /** only from the user's file or a trusted one */
  readonly worktreeSetup: string | undefined;
  /** configured `agent` commands by name, only from the user's file or a trusted one */
  readonly agents: Readonly<Record<string, readonly string[]>>;
}

/** Where an effective value came from: `default`, a file's path, or `environment`. */
export interface SettingOrigin {
  readonly key: string;
  readonly value: unknown;
  readonly origin: string;
}

export interface ResolvedSettings {
  readonly settings: Settings;
  readonly origins: readonly SettingOrigin[];
  /** One for untrusted commands that were ignored. */
  readonly warnings: readonly string[];
  /** the workspace's `waymark.toml` if there is one */
  readonly workspaceFile: string | undefined;
}

/** What the caller hands in; nothing is read from the process. */
export interface SettingsInput {
  /** real path of the workspace */
  readonly workspace: string;
  /** WAYMARK_HOME */
  readonly home: string;
  /** Leaves the workspace's own file out of account. */
  readonly withoutWorkspaceFile?: boolean;
  /** the user's file, e.g. `~/.config/waymark/waymark.toml` */
  readonly userFile: string | undefined;
  /** `WAYMARK_*` variables */
  readonly environment: Readonly<Record<string, string | undefined>>;
}
