import type { Corpus } from './corpora/corpus.ts';
import { type Rounds, type RowResult, runRow } from './measure/run-row.ts';
import type { Engine, Row } from './rows/row.ts';
import { prepareScene, type Scene } from './scene.ts';

/** The rows at one number of files and one of checkpoints. */
export interface GrowthResult {
  readonly files: number;
  readonly checkpoints: number;
  readonly results: readonly RowResult[];
}

export interface GrowthPlan {
  readonly place: string;
  readonly removes: boolean;
  readonly rows: readonly Row[];
  readonly engines: readonly Engine[];
  readonly rounds: Rounds;
  /** checkpoints behind it, ascending, from 1 */
  readonly histories: readonly number[];
}

/** Measures the rows on one corpus, at its start and again after long histories. */
export async function measureGrowth(corpus: Corpus, plan: GrowthPlan): Promise<readonly GrowthResult[]> {
  const { place, removes, rows, engines, rounds, histories } = plan;
  // nothing may be dropped: what rows add comes on top of the history
  const keep = 2 * Math.max(...histories) + 1000;
  await using scene = await prepareScene(corpus, { place, removes, engines, keep });
  const steps: GrowthResult[] = [];
  let checkpoints = 1;
  for (const history of histories) {
    const wanted = rows.filter(({ fresh }) => !fresh || history === histories[0]);
    for (; checkpoints < history; checkpoints++) await addCheckpoint(scene, engines);
    const results: RowResult[] = [];
    for (const row of wanted) results.push(...(await runRow(row, scene, engines, rounds)));
    steps.push({ files: corpus.files, checkpoints: history, results });
  }
  return steps;
}

/** One more on every side, each with a small change. */
async function addCheckpoint(scene: Scene, engines: readonly Engine[]): Promise<void> {
  scene.change(1);
  for (const engine of engines) await (await scene.waymark(engine)).create();
  scene.git.addAll();
  scene.git.commit();
}
