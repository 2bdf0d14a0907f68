import { execFileSync } from 'node:child_process';
import { expect } from 'vitest';
import { isWaymarkError, type RestoreResult, type Workspace } from '../../src/index.ts';
import {
  describeExpected,
  describeNode,
  expectFigures,
  expectReasons,
  expectReport,
  expectTree,
  expectUntouched,
  fromProduct,
  toProduct,
} from './comparisons.ts';
import { type DiskOperation, operateOnDisk } from './disk-operations.ts';
import { ancestors, type DiskTree, holdsSame, isBelow, readDiskTree } from './disk-tree.ts';
import { momentOf } from './moment-of.ts';
import { covers, expectedAfter, type Moment, selects } from './reference-restore.ts';
import type { Status } from './reference-scope.ts';
import type { Scenario, SelectionSketch, Step, Then } from './scenario.ts';

export type Engine = 'cas' | 'git';

/** A checkpoint and the moment it was taken at. */
interface Taken {
  readonly id: string;
  readonly createdAt: string;
  readonly moment: Moment;
}

/**
 * Goes through a scenario with a workspace of the product on one side and the model on the other. The model knows what a capture must hold and what
 * a restore, undo or redo must leave behind; whatever differs fails.
 */
export class ModelSession {
  readonly #root: string;
  readonly #workspace: Workspace;
  readonly #engines: readonly Engine[];
  /** every checkpoint, safety checkpoints included, oldest first */
  readonly #taken: Taken[] = [];

  constructor(root: string, workspace: Workspace, engines: readonly Engine[]) {
    this.#root = root;
    this.#workspace = workspace;
    this.#engines = engines;
  }

  async play({ isRepository, initial, steps }: Scenario): Promise<void> {
    if (isRepository)
      execFileSync('git', ['init', '-q', '--template='], { cwd: this.#root, stdio: 'ignore' });
    if (isRepository) execFileSync('mkdir', ['.git/info'], { cwd: this.#root, stdio: 'ignore' });
    this.#operate(initial);
    for (const step of steps) await this.#take(step);
  }

  async #take(step: Step): Promise<void> {
    if (step.do === 'disk') this.#operate(step.operations);
    else if (step.do === 'capture') await this.#capture(step.selection, step.engine);
    else if (step.do === 'restore') await this.#restore(step.which, step.selection, step.then);
    else await this.#run(step.operations, step.then);
  }

  #operate(operations: readonly DiskOperation[]): void {
    for (const operation of operations) operateOnDisk(this.#root, operation);
  }

  async #capture(sketch: SelectionSketch, engine: number): Promise<void> {
    const moment = momentOf(this.#root);
    const known = [...moment.statuses.keys()];
    const selection = sketch.kind === 'picks' ? pickFrom(known, sketch.picks) : [];
    const { checkpoint } = await this.#workspace.createCheckpoint({
      engine: this.#engines[engine % this.#engines.length] as Engine,
      paths: selection.map(toProduct),
      reason: `capture ${this.#taken.length}`,
    });
    expect(checkpoint, 'a checkpoint').not.toBeNull();
    if (checkpoint === null) return;
    await this.#hold(checkpoint.id, { ...moment, selection });
  }

  /** Compares a checkpoint with the moment it was taken at, and remembers it. */
  async #hold(id: string, moment: Moment, isSafety = false): Promise<Taken> {
    const { entries, problems, checkpoint } = await this.#workspace.showCheckpoint(id);
    expect(problems, 'problems of a fresh checkpoint').toEqual([]);
    expectFigures(checkpoint, entries);
    const shown = new Map(entries.map(([name, node]) => [fromProduct(name), node]));
    const statuses = new Map(moment.statuses);
    const partial = new Set<string>();
    for (const [at, node] of shown) {
      const expected = statuses.get(at);
      if (node.kind === 'observed' && node.reason === 'over_total' && expected === 'stored') {
        expect(this.#mayBeOverTotal(moment), `${at} is over the total`).toBe(true);
        statuses.set(at, 'over_total');
      }
      if (node.kind === 'directory' && node.listing === 'partial') partial.add(at);
      if (isSafety && node.kind !== 'observed') statuses.set(at, 'stored');
    }
    for (const at of statuses.keys()) if (!covers(moment, at)) statuses.delete(at);
    const held = [...shown].map(([at, node]) => `${JSON.stringify(at)} ${describeNode(node)}`);
    const wanted = [...statuses].map(
      ([at, status]) => `${JSON.stringify(at)} ${describeExpected(moment.tree.get(at), status)}`,
    );
    expect(held.sort(), 'what the checkpoint holds').toEqual(wanted.sort());
    const taken = { id, createdAt: checkpoint.createdAt, moment: { ...moment, statuses, partial } };
    this.#taken.push(taken);
    return taken;
  }

  #mayBeOverTotal({ tree, statuses, rules }: Moment): boolean {
    const sizes = [...tree].map(([at, { size }]) => (statuses.get(at) === 'stored' ? size : 0));
    return sizes.reduce((sum, size) => sum + size, 0) > rules.maxTotalBytes;
  }

  async #restore(which: number, sketch: SelectionSketch, then: Then): Promise<void> {
    const target = this.#taken[which % this.#taken.length];
    if (target === undefined) return;
    const present = momentOf(this.#root);
    const names = selectionFrom(sketch, target.moment, present);
    const isSelected = selects(names, (name) => isKnown(name, [target.moment, present]));
    const after = expectedAfter({
      target: target.moment,
      present,
      between: this.#taken
        .filter(({ id, createdAt }) => id !== target.id && createdAt >= target.createdAt)
        .map(({ moment }) => moment.rules),
      isSelected,
    });
    const options = { checkpoint: target.id, paths: names.map(toProduct), confirm: 'always' } as const;
    const planned = await this.#attempt(() => this.#workspace.restore({ ...options, dryRun: true }));
    expectTree(this.#root, present.tree, 'after a dry run');
    const result = await this.#attempt(() => this.#workspace.restore(options));
    if (result === undefined) {
      const paths = [target.moment, present].flatMap(({ statuses }) => [...statuses.keys()]);
      expect(paths.filter(isSelected), `${names} matches nothing`).toEqual([]);
      return;
    }
    expect(planned?.changes, 'the dry run').toEqual(result.changes);
    expect(planned?.skipped, 'the dry run').toEqual(result.skipped);
    expectTree(this.#root, after, `after restoring ${names.join(' ')} of ${target.id}`);
    expectUntouched(this.#root, present.tree);
    expectReport(result, present.tree, after);
    expectReasons(result, target.moment, present, after, isSelected);
    await this.#expectHeld(result, present, after);
    // A literal name that is gone now would be read as a glob the second time.
    if (!names.some((name) => /[*?[]/.test(name))) {
      const again = await this.#attempt(() => this.#workspace.restore({ ...options, dryRun: true }));
      expect(again?.changes ?? [], 'a second restore').toEqual([]);
    }
    await this.#goOn(result, present, then);
  }

  async #run(operations: readonly DiskOperation[], then: Then): Promise<void> {
    const start = momentOf(this.#root);
    let end = start;
    const result = await this.#workspace.run({ label: 'model' }, async () => {
      this.#operate(operations);
      end = momentOf(this.#root, start.rules);
    });
    expect(
      result.warnings.filter(
        (warning) => !/^(Changed( too)?, but not held|Gone, and never held)/.test(warning),
      ),
    ).toEqual([]);
    if (result.before === null || result.after === null) throw new Error('a run without checkpoints');
    const before = await this.#hold(result.before.id, start);
    const after = await this.#hold(result.after.id, end);
    if (then === 'nothing') return;
    const expected = expectedAfter({
      target: before.moment,
      present: after.moment,
      between: [],
      isSelected: (at) => {
        const status = after.moment.statuses.get(at);
        const known = status === 'stored' || (status === undefined && !after.moment.tree.has(at));
        return known && !hasUnknownAbove(after.moment, at);
      },
    });
    const present = momentOf(this.#root);
    // Without a name, what changed nothing is passed over.
    const named = result.changes.length === 0 ? { operation: result.operation.id } : {};
    const undone = await this.#workspace.undo({ confirm: 'always', ...named });
    expectTree(this.#root, expected, 'after the undo of a run');
    expectUntouched(this.#root, present.tree);
    expectReport(undone, present.tree, expected);
    await this.#expectHeld(undone, present, expected);
    if (undone.operationId === null || then === 'undo') return;
    await this.#redo(present.tree);
  }

  /** Takes a restore back, and the taking back too: each time exactly the tree of before. */
  async #goOn(result: RestoreResult, before: Moment, then: Then): Promise<void> {
    if (then === 'nothing' || result.operationId === null) return;
    if (then === 'undo after edits') {
      await this.#undoAfterEdits(result, before);
      return;
    }
    const present = momentOf(this.#root);
    const undone = await this.#workspace.undo({ confirm: 'always' });
    expect(undone.skipped, 'of an undo').toEqual([]);
    expectTree(this.#root, before.tree, 'after the undo');
    expectUntouched(this.#root, present.tree);
    await this.#expectHeld(undone, present, before.tree);
    if (then === 'redo') await this.#redo(present.tree);
  }

  async #redo(expected: DiskTree): Promise<void> {
    const present = momentOf(this.#root);
    const redone = await this.#workspace.redo({ confirm: 'always' });
    expect(redone.skipped, 'of a redo').toEqual([]);
    expectTree(this.#root, expected, 'after the redo');
    await this.#expectHeld(redone, present, expected);
  }

  /** What was edited since a restore is a conflict that stays, and nothing that an undo touches is lost. */
  async #undoAfterEdits(result: RestoreResult, before: Moment): Promise<void> {
    const left = readDiskTree(this.#root);
    const [first, second] = result.changes.filter(({ action }) => action === 'modify' || action === 'create');
    for (const { path: name } of [first, second].flatMap((change) => change ?? [])) {
      operateOnDisk(this.#root, { do: 'append', at: { path: fromProduct(name) } });
    }
    const present = momentOf(this.#root);
    const undone = await this.#workspace.undo({ confirm: 'always' });
    const after = readDiskTree(this.#root);
    for (const [at, node] of present.tree) {
      const edited = !holdsSame(left.get(at), node);
      if (edited) expect(holdsSame(after.get(at), node), `${at} was edited since and stays`).toBe(true);
      else if (!holdsSame(after.get(at), node)) {
        expect(holdsSame(after.get(at), before.tree.get(at)), `${at} goes back`).toBe(true);
      }
    }
    expectReport(undone, present.tree, after);
    await this.#expectHeld(undone, present, after);
  }

  /** Everything that is not there any more is in the safety checkpoint. */
  async #expectHeld(result: RestoreResult, present: Moment, after: DiskTree): Promise<void> {
    if (result.safetyCheckpointId === null) {
      expect(result.changes).toEqual([]);
      return;
    }
    const { entries } = await this.#workspace.showCheckpoint(result.safetyCheckpointId);
    const held = new Map(entries.map(([name, node]) => [fromProduct(name), node]));
    const statuses = new Map(present.statuses);
    for (const [at, node] of present.tree) {
      if (holdsSame(node, after.get(at))) continue;
      const entry = held.get(at);
      const shown = entry === undefined ? 'nothing' : describeNode(entry);
      expect(shown, `${JSON.stringify(at)} in the safety checkpoint`).toBe(describeExpected(node, 'stored'));
      statuses.set(at, 'stored');
    }
    const seen = new Map(
      [...held].map(([at, node]) => [at, node.kind === 'observed' ? statuses.get(at) : 'stored']),
    );
    await this.#hold(result.safetyCheckpointId, { ...present, statuses: withStatuses(statuses, seen) }, true);
  }

  async #attempt(restore: () => Promise<RestoreResult>): Promise<RestoreResult | undefined> {
    try {
      return await restore();
    } catch (error) {
      if (isWaymarkError(error, 'PATH_NOT_FOUND')) return undefined;
      throw error;
    }
  }
}

function withStatuses(
  statuses: ReadonlyMap<string, Status>,
  seen: ReadonlyMap<string, Status | undefined>,
): Map<string, Status> {
  const merged = new Map(statuses);
  for (const [at, status] of seen) if (status !== undefined) merged.set(at, status);
  return merged;
}

function pickFrom(paths: readonly string[], picks: readonly number[]): readonly string[] {
  return [...new Set(picks.flatMap((index) => paths[index % Math.max(1, paths.length)] ?? []))];
}

function selectionFrom(sketch: SelectionSketch, target: Moment, present: Moment): readonly string[] {
  if (sketch.kind === 'all') return [];
  if (sketch.kind === 'glob') return [sketch.glob];
  return pickFrom([...new Set([...target.statuses.keys(), ...present.statuses.keys()])], sketch.picks);
}

/** A name is taken literally where one of the two has it, has something in it, or has it in something that it did not enter. */
function isKnown(name: string, moments: readonly Moment[]): boolean {
  return moments.some(
    ({ statuses }) =>
      statuses.has(name) ||
      [...statuses.keys()].some((at) => isBelow(at, name)) ||
      [...ancestors(name)].some((at) => statuses.has(at) && statuses.get(at) !== 'stored'),
  );
}

function hasUnknownAbove({ statuses, tree }: Moment, at: string): boolean {
  return [...ancestors(at)].some((directory) => tree.has(directory) && statuses.get(directory) !== 'stored');
}
