import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { mustRun } from '../../scripts/run-command.ts';
import { measureTree } from '../measure/measure-tree.ts';
import { GIT_CONFIGURATION, GIT_ENVIRONMENT } from './git-configuration.ts';

/** A shadow repository beside a tree, driven as most tools of the field do: one git process a command. */
export interface GitSide {
  addAll(): void;
  writeTree(): string;
  /** Gives the commit's hash. */
  commit(): string;
  /** `git restore --source=C -- .` */
  restore(commit: string): void;
  /** `git checkout C -- .` with an index and a work tree of its own. */
  checkoutInto(commit: string, directory: string): void;
  storedFiles(commit: string): number;
  /** allocated bytes */
  objectBytes(): number;
}

/** Makes a new, empty shadow repository at `gitDir` for `tree`. */
export function createGitSide(gitDir: string, tree: string, environment: NodeJS.ProcessEnv): GitSide {
  const env = { ...environment, ...GIT_ENVIRONMENT, GIT_DIR: gitDir, GIT_WORK_TREE: tree };
  const git = (...args: readonly string[]) => mustRun('git', args, { cwd: tree, env }).stdout.trim();
  git('init', '--quiet');
  for (const [key, value] of Object.entries(GIT_CONFIGURATION)) git('config', key, value);
  return {
    addAll: () => void git('add', '-A'),
    writeTree: () => git('write-tree'),
    commit() {
      git('commit', '--quiet', '--allow-empty', '-m', 'bench');
      return git('rev-parse', 'HEAD');
    },
    restore: (commit) => void git('restore', `--source=${commit}`, '--', '.'),
    checkoutInto(commit, directory) {
      mkdirSync(directory, { recursive: true });
      mustRun('git', ['checkout', '--quiet', commit, '--', '.'], {
        cwd: directory,
        env: { ...env, GIT_WORK_TREE: directory, GIT_INDEX_FILE: `${directory}.index` },
      });
    },
    storedFiles: (commit) => git('ls-tree', '-r', '--name-only', '-z', commit).split('\0').length - 1,
    objectBytes: () => measureTree(join(gitDir, 'objects')).allocated,
  };
}
