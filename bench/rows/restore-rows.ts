import { measureTree } from '../measure/measure-tree.ts';
import { timed } from '../measure/timed.ts';
import type { Scene } from '../scene.ts';
import { ENGINES, type Row, type Sample } from './row.ts';

/** How long it takes to go back. */
export const RESTORE_ROWS: readonly Row[] = [
  {
    name: 'ten-restored',
    work: 'restore of 10 changed files, safety checkpoint included',
    against: 'git add -A && git write-tree && git restore --source=C -- .',
    unit: 'ms',
    bound: 'ratio',
    must: 1,
    aim: 0.6,
    engines: ENGINES,
    fresh: false,
    async ours(scene, engine) {
      const { workspace } = await scene.waymark(engine);
      const checkpoint = scene.firstCheckpoint(engine);
      scene.change(10);
      return await timed(async () => {
        const { changes, skipped } = await workspace.restore({ checkpoint, confirm: 'always' });
        // the warm-up also takes back what earlier rows changed
        if (changes.length < 10 || skipped.length > 0) {
          throw new Error(`The ${engine} engine restored ${changes.length} files, skipped ${skipped.length}`);
        }
      });
    },
    async git(scene) {
      const { git, firstCommit } = scene;
      scene.change(10);
      return await timed(() => {
        git.addAll();
        git.writeTree();
        git.restore(firstCommit);
      });
    },
  },
  {
    name: 'full-restore',
    work: 'full restore into an empty directory',
    against: 'git checkout C -- .',
    unit: 'ms',
    bound: 'ratio',
    must: 1.1,
    aim: 0.7,
    engines: ENGINES,
    fresh: false,
    async ours(scene, engine) {
      const { workspace } = await scene.waymark(engine);
      const checkpoint = scene.firstCheckpoint(engine);
      return await intoEmpty(scene, (into) => workspace.restore({ checkpoint, into, confirm: 'always' }));
    },
    git: async (scene) => await intoEmpty(scene, (into) => scene.git.checkoutInto(scene.firstCommit, into)),
  },
];

async function intoEmpty(scene: Scene, restore: (directory: string) => unknown): Promise<Sample> {
  const directory = scene.scratch();
  scene.settle();
  const took = await timed(() => restore(directory));
  const { files } = measureTree(directory);
  if (files !== scene.corpus.files) throw new Error(`${files} files arrived, not ${scene.corpus.files}`);
  return took;
}
