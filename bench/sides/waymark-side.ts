import { join } from 'node:path';
import { type Checkpoint, openWaymark, type Waymark, type Workspace } from '../../src/index.ts';
import type { Engine } from '../rows/row.ts';

/** Waymark used as a library by one process that stays. */
export interface WaymarkSide extends AsyncDisposable {
  readonly home: string;
  readonly engine: Engine;
  readonly workspace: Workspace;
  /** Takes a checkpoint of the whole workspace. @throws Error where something was left out */
  create(): Promise<{ readonly checkpoint: Checkpoint; readonly filesRead: number }>;
}

export async function openWaymarkSide(
  home: string,
  tree: string,
  engine: Engine,
  environment: NodeJS.ProcessEnv,
): Promise<WaymarkSide> {
  const waymark: Waymark = await openWaymark({
    home,
    environment,
    userHome: environment['HOME'] ?? home,
    temporaryDirectory: join(home, 'tmp'),
  });
  const workspace = await waymark.openWorkspace(tree);
  return {
    home,
    engine,
    workspace,
    async create() {
      const { checkpoint, stats } = await workspace.createCheckpoint({ engine });
      if (checkpoint?.coverage.status !== 'complete') {
        throw new Error(`The ${engine} engine left something of ${tree} out`);
      }
      return { checkpoint, filesRead: stats.filesRead };
    },
    [Symbol.asyncDispose]: () => waymark[Symbol.asyncDispose](),
  };
}
