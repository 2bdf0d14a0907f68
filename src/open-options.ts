import type { Clock } from './platform/clock.ts';
import type { StepHook } from './platform/file-system.ts';

export interface OpenOptions {
  /** `WAYMARK_HOME`: an absolute path; created with mode 0700 */
  readonly home: string;
  /** The environment that settings, git and commands see; `WAYMARK_SESSION` and `WAYMARK_RUN` name the session and run to go on in. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** the user's configuration file */
  readonly userFile?: string | undefined;
  /** refused as a workspace, like everything above it */
  readonly userHome: string;
  /** refused as a workspace */
  readonly temporaryDirectory: string;
  /** Makes the catalog anew from what the stores hold; the old one is kept beside it. */
  readonly rebuildCatalog?: boolean;
  readonly clock?: Clock;
  /** Sees every changing call before it happens (fault injection). */
  readonly stepHook?: StepHook;
}
