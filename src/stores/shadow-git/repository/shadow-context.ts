import type { WorkspaceIdentity } from '../../../domain/workspace.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { FileSystem } from '../../../platform/file-system.ts';
import type { Git, GitCommand, GitOutput } from '../../../platform/git-process.ts';
import type { HomeLayout } from '../../../platform/home-layout.ts';
import type { Locks } from '../../../platform/lock.ts';

/** What the parts of the engine share. */
export interface ShadowContext {
  readonly layout: HomeLayout;
  readonly fs: FileSystem;
  readonly locks: Locks;
  readonly clock: Clock;
  readonly git: Git;
  readonly identity: WorkspaceIdentity;
  /** the repository (`GIT_DIR`), absolute */
  readonly gitDir: string;
  /** Told what a person should know although nothing failed. */
  readonly warn: (message: string) => void;
  /** How long to wait for another capture or a live `index.lock`, ms. */
  readonly waitMs: number;
  /** what the repository looked like when git last called it one, and its packs when they were last looked at */
  readonly health: { signature: string | undefined; readonly packs: Map<string, string> };
}

/** Runs git on the shadow repository, and on nothing else. */
export function shadowGit(
  context: Pick<ShadowContext, 'git' | 'gitDir'>,
  command: Omit<GitCommand, 'gitDir' | 'isolated' | 'cwd'>,
): Promise<GitOutput> {
  return context.git.run({ ...command, gitDir: context.gitDir, isolated: true });
}
