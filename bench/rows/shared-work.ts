import { timed } from '../measure/timed.ts';
import type { Scene } from '../scene.ts';
import { runCli } from '../sides/cli.ts';
import type { Engine, Sample } from './row.ts';

/** `waymark checkpoints create` in the tree. */
export function createOnCli(scene: Scene, engine: Engine, home: string): void {
  runCli(['checkpoints', 'create', '--store', engine], scene.tree, home, scene.environment);
}

/** A checkpoint by the open library. @throws Error where fewer than `atLeast` files were read */
export async function createAgain(scene: Scene, engine: Engine, atLeast: number): Promise<Sample> {
  const side = await scene.waymark(engine);
  let filesRead = 0;
  const took = await timed(async () => {
    filesRead = (await side.create()).filesRead;
  });
  if (filesRead < atLeast) throw new Error(`The ${engine} engine read ${filesRead} files, not ${atLeast}`);
  return took;
}

/** `git add -A && git write-tree`. */
export async function stageAgain({ git }: Scene): Promise<Sample> {
  return await timed(() => {
    git.addAll();
    git.writeTree();
  });
}
