import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { openWaymark } from '../../src/index.ts';
import { memoryDirectory } from '../support/memory-directory.ts';
import { type Engine, ModelSession } from './model-session.ts';
import type { Scenario } from './scenario.ts';

/** Goes through a scenario in a fresh workspace and a fresh home. */
export async function play(scenario: Scenario, engines: readonly Engine[]): Promise<void> {
  using place = memoryDirectory();
  const root = path.join(place.path, 'workspace');
  const userHome = path.join(place.path, 'home');
  for (const made of [root, userHome]) mkdirSync(made);
  await using waymark = await openWaymark({
    home: path.join(place.path, 'waymark'),
    environment: { PATH: process.env['PATH'], HOME: userHome },
    userHome,
    temporaryDirectory: path.join(place.path, 'tmp'),
  });
  const workspace = await waymark.openWorkspace(root);
  await new ModelSession(root, workspace, engines).play(scenario);
}
