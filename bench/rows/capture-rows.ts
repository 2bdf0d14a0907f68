import { timed } from '../measure/timed.ts';
import { createGitSide } from '../sides/git-side.ts';
import { ENGINES, type Row } from './row.ts';
import { createAgain, createOnCli, stageAgain } from './shared-work.ts';

/** How long captures take. */
export const CAPTURE_ROWS: readonly Row[] = [
  {
    name: 'first-capture',
    work: 'first capture (whole CLI process)',
    against: 'git add -A && git commit',
    unit: 'ms',
    bound: 'ratio',
    must: 0.2,
    aim: 0.12,
    engines: ENGINES,
    fresh: true,
    async ours(scene, engine) {
      const home = scene.scratch();
      scene.settle();
      return await timed(() => createOnCli(scene, engine, home));
    },
    async git(scene) {
      const gitDir = scene.scratch();
      const side = createGitSide(gitDir, scene.tree, scene.environment);
      scene.settle();
      return await timed(() => {
        side.addAll();
        side.commit();
      });
    },
  },
  {
    name: 'unchanged',
    work: 'nothing changed, in process',
    against: 'git add -A && git write-tree',
    unit: 'ms',
    bound: 'ratio',
    must: 0.6,
    aim: 0.35,
    engines: ENGINES,
    fresh: false,
    ours: async (scene, engine) => await createAgain(scene, engine, 0),
    git: stageAgain,
  },
  {
    name: 'unchanged-cli',
    work: 'nothing changed, whole CLI process',
    against: 'git add -A && git write-tree',
    unit: 'ms',
    bound: 'ratio',
    must: 0.9,
    aim: 0.6,
    engines: ENGINES,
    fresh: false,
    async ours(scene, engine) {
      const home = await scene.closedHome(engine);
      return await timed(() => createOnCli(scene, engine, home));
    },
    git: stageAgain,
  },
  {
    name: 'ten-changed',
    work: '10 files changed, in process',
    against: 'git add -A && git write-tree',
    unit: 'ms',
    bound: 'ratio',
    must: 0.6,
    aim: 0.4,
    engines: ENGINES,
    fresh: false,
    prepare: (scene) => scene.change(10),
    ours: async (scene, engine) => await createAgain(scene, engine, 10),
    git: stageAgain,
  },
];
