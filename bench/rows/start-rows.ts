import { timed } from '../measure/timed.ts';
import type { Scene } from '../scene.ts';
import { runCli, runNode } from '../sides/cli.ts';
import type { Row, Sample } from './row.ts';

/** How long the program takes to start and answer. */
export const START_ROWS: readonly Row[] = [
  {
    name: 'version',
    work: 'waymark --version',
    against: 'node -e 0',
    unit: 'ms',
    bound: 'ratio',
    must: 2,
    aim: 1.3,
    engines: ['cas'],
    fresh: false,
    async ours(scene, engine) {
      const home = await scene.closedHome(engine);
      return await timed(() => runCli(['--version'], scene.tree, home, scene.environment));
    },
    git: nothing,
  },
  {
    name: 'list',
    work: 'waymark checkpoints list',
    against: 'node -e 0',
    unit: 'ms',
    bound: 'ratio',
    must: 3,
    aim: 2,
    engines: ['cas'],
    fresh: false,
    async ours(scene, engine) {
      const home = await scene.closedHome(engine);
      return await timed(() => runCli(['checkpoints', 'list'], scene.tree, home, scene.environment));
    },
    git: nothing,
  },
];

async function nothing(scene: Scene): Promise<Sample> {
  return await timed(() => runNode(['-e', '0'], scene.tree, scene.environment));
}
