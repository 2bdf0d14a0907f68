import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { decodeName, toFsPath } from '../../domain/rel-path.ts';
import type { HomeContext } from './home-context.ts';

/**
 * Finds the directory that a command started in `directory` means: the nearest at or above it (not above a git top level) that holds
 * `waymark.toml` or has checkpoints, else the git top level, else the directory itself.
 */
export function findWorkspace(context: HomeContext, directory: string): string {
  const start = decodeName(realpathSync.native(toFsPath(directory), { encoding: 'buffer' }));
  const known = new Set(context.catalog.workspaces().map((workspace) => workspace.path));
  let topLevel: string | undefined;
  for (let at = start; ; at = path.dirname(at)) {
    if (existsSync(toFsPath(path.join(at, 'waymark.toml'))) || (known.has(at) && hasCheckpoints(context, at)))
      return at;
    if (existsSync(toFsPath(path.join(at, '.git')))) {
      topLevel = at;
      break;
    }
    if (path.dirname(at) === at) break;
  }
  return topLevel ?? start;
}

function hasCheckpoints(context: HomeContext, directory: string): boolean {
  const workspace = context.catalog.workspaces().find(({ path: known }) => known === directory);
  return (
    workspace !== undefined &&
    context.catalog.checkpoints({ dirHash: workspace.dirHash, limit: 1 }).length > 0
  );
}
