import { readdirSync } from 'node:fs';
import { expect } from 'vitest';
import type { Workspace } from '../../src/index.ts';
import { treeListing } from '../support/tree-listing.ts';
import { type CrashPlace, openPlace } from './crash-scenes.ts';

/** How a scene stands before it is stopped, and after it where it is not. */
export interface SceneEnds {
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** ids, newest first */
  readonly checkpoints: readonly string[];
  /** how many of the newest are there in any case */
  readonly keeps: number | undefined;
}

const HOUR_MS = 3_600_000;

/**
 * Looks, as a new process would, at what was left by one that was stopped anywhere: what was complete is complete, the workspace can be brought to
 * one of its two ends exactly, and everything works as if nothing had happened.
 */
export async function examineAfterStop(place: CrashPlace, ends: SceneEnds, mode: 'continue' | 'abort') {
  const { root } = place;
  await using opened = await openPlace(place, () => {});
  const { workspace } = opened;
  await expectWhole(workspace, ends);
  const interrupted = (await workspace.status()).interruptedRestore !== undefined;
  if (interrupted) {
    await expect(workspace.restore({ checkpoint: '@', confirm: 'always' })).rejects.toMatchObject({
      code: 'RESTORE_INTERRUPTED',
    });
    const { skipped } = await workspace.recover(mode);
    expect(skipped).toEqual([]);
    expect(treeListing(root), `after recovery (${mode})`).toEqual(
      mode === 'continue' ? ends.after : ends.before,
    );
  } else {
    const listing = treeListing(root);
    const end = JSON.stringify(listing) === JSON.stringify(ends.after) ? ends.after : ends.before;
    expect(listing, 'one of the two ends').toEqual(end);
  }
  expect(temporariesIn(root), 'temporary files in the workspace').toEqual([]);
  await expectUsable(workspace, place);
  await expectWhole(workspace, { ...ends, keeps: 0 });
  await expectTidy(place);
}

/** Every listed checkpoint is complete, and those that were there are. */
async function expectWhole(workspace: Workspace, { checkpoints, keeps }: SceneEnds): Promise<void> {
  const listed = (await workspace.listCheckpoints()).map(({ id }) => id as string);
  const kept = checkpoints.slice(0, keeps);
  expect(listed).toEqual(expect.arrayContaining([...kept]));
  expect((await workspace.verify()).problems).toEqual([]);
}

/** The next capture, restore and undo work, exactly. */
async function expectUsable(workspace: Workspace, { root, engine }: CrashPlace): Promise<void> {
  const { checkpoint, warnings } = await workspace.createCheckpoint({ engine, label: 'next' });
  expect(warnings).toEqual([]);
  const before = treeListing(root);
  const oldest = (await workspace.listCheckpoints()).at(-1);
  expect((await workspace.restore({ checkpoint: oldest?.id ?? '', confirm: 'always' })).skipped).toEqual([]);
  const back = await workspace.restore({ checkpoint: checkpoint?.id ?? '', confirm: 'always' });
  expect(treeListing(root), 'there and back').toEqual(before);
  if (back.operationId === null) return;
  const between = await workspace.undo({ confirm: 'always' });
  expect(between.skipped).toEqual([]);
  await workspace.redo({ confirm: 'always' });
  expect(treeListing(root), 'after undo and redo').toEqual(before);
}

/** Looked after when some time has passed, the home holds nothing that is half done. */
async function expectTidy(place: CrashPlace): Promise<void> {
  const clock = { now: () => Date.now() + 3 * HOUR_MS };
  await using opened = await openPlace(place, () => {}, { clock });
  expect((await opened.workspace.prune()).problems).toEqual([]);
  expect((await opened.workspace.verify()).problems).toEqual([]);
  expect((await opened.waymark.doctor()).problems).toEqual([]);
  if (process.env['STRICT'])
    expect(temporariesIn(`${place.directory}/waymark`), 'temporary files in the home').toEqual([]);
}

function temporariesIn(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'latin1' }).filter((name) =>
    /(^|\/)(\.waymark-restore-|waymark-displaced-)|\.tmp$|tmp_/.test(name),
  );
}
