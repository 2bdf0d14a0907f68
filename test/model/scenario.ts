import fc from 'fast-check';
import type { DiskOperation } from './disk-operations.ts';
import { diskOperation } from './operation-arbitrary.ts';

/** Which paths a capture or restore is asked for, made definite against what is there then. */
export type SelectionSketch =
  | { readonly kind: 'all' }
  | { readonly kind: 'picks'; readonly picks: readonly number[] }
  | { readonly kind: 'glob'; readonly glob: string };

/** What the model does through the product, between things that happen on the disk. */
export type Step =
  | { readonly do: 'disk'; readonly operations: readonly DiskOperation[] }
  | { readonly do: 'capture'; readonly selection: SelectionSketch; readonly engine: number }
  | {
      readonly do: 'restore';
      readonly which: number;
      readonly selection: SelectionSketch;
      readonly then: Then;
    }
  | { readonly do: 'run'; readonly operations: readonly DiskOperation[]; readonly then: Then };

/** What follows a restore or run. */
export type Then = 'nothing' | 'undo' | 'redo' | 'undo after edits';

export interface Scenario {
  readonly isRepository: boolean;
  readonly initial: readonly DiskOperation[];
  readonly steps: readonly Step[];
}

const all: fc.Arbitrary<SelectionSketch> = fc.constant({ kind: 'all' });
const picks: fc.Arbitrary<SelectionSketch> = fc
  .array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 2 })
  .map((indexes) => ({ kind: 'picks', picks: indexes }));
const glob: fc.Arbitrary<SelectionSketch> = fc
  .constantFrom('*.txt', '**/a', 'd*', '*/*', 'sub/*.log', '**')
  .map((text) => ({ kind: 'glob', glob: text }));

const then: fc.Arbitrary<Then> = fc.constantFrom('nothing', 'undo', 'redo', 'redo', 'undo after edits');
const operations = fc.array(diskOperation, { minLength: 1, maxLength: 6 });

const capture: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('capture'),
  selection: fc.oneof({ weight: 8, arbitrary: all }, { weight: 1, arbitrary: picks }),
  engine: fc.nat({ max: 9 }),
});
const restore: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('restore'),
  which: fc.nat({ max: 9 }),
  selection: fc.oneof(
    { weight: 5, arbitrary: all },
    { weight: 3, arbitrary: picks },
    { weight: 2, arbitrary: glob },
  ),
  then,
});
const run: fc.Arbitrary<Step> = fc.record({ do: fc.constant('run'), operations, then });
const disk: fc.Arbitrary<Step> = fc.record({ do: fc.constant('disk'), operations });

const action = fc.oneof(
  { weight: 2, arbitrary: capture },
  { weight: 4, arbitrary: restore },
  { weight: 1, arbitrary: run },
);

/** A tree, a first capture of it, then edits and actions in turns. */
export const scenario: fc.Arbitrary<Scenario> = fc
  .record({
    isRepository: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
    initial: fc.array(diskOperation, { minLength: 3, maxLength: 10 }),
    first: capture,
    turns: fc.array(fc.tuple(disk, action), { minLength: 1, maxLength: 4 }),
    last: fc.tuple(disk, restore),
  })
  .map(({ isRepository, initial, first, turns, last }) => ({
    isRepository,
    initial,
    steps: [{ ...first, selection: { kind: 'all' } } as Step, ...turns.flat(), ...last],
  }));
