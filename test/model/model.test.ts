import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scaled, testSeed } from '../support/scale.ts';
import { play } from './play.ts';
import { scenario } from './scenario.ts';

const mixes = [
  { name: 'cas', engines: ['cas'], runs: scaled(120, 5000) },
  { name: 'git', engines: ['git'], runs: scaled(14, 800) },
  { name: 'both in turns', engines: ['cas', 'git'], runs: scaled(8, 400) },
] as const;

test.concurrent.each(mixes)(
  'captures, restores, undo and redo do what the model says, engine $name',
  async ({ engines, runs }) => {
    const seed = testSeed();
    process.stdout.write(`model, ${engines.join(' and ')}: seed ${seed}, ${runs} runs\n`);
    await fc.assert(
      fc.asyncProperty(scenario, async (one) => await play(one, engines)),
      { numRuns: runs, seed, endOnFailure: false },
    );
    expect(runs).toBeGreaterThan(0);
  },
);
