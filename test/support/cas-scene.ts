import type { CheckpointRecord } from '../../src/domain/checkpoint.ts';
import type { ContentHash, DirHash, SessionId } from '../../src/domain/ids.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { StepHook } from '../../src/platform/file-system.ts';
import { homeLayout } from '../../src/platform/home-layout.ts';
import { createFileSystem } from '../../src/platform/node-file-system.ts';
import { createLocks } from '../../src/platform/sqlite-locks.ts';
import { openCasStore } from '../../src/stores/cas/cas-store.ts';
import type { SnapshotStore } from '../../src/stores/snapshot-store.ts';
import { draft, noise, recordOf, type Spec } from '../suites/drafts.ts';

export const CAS_WORKSPACE = {
  path: '/work/space',
  dirHash: '0123456789abcdef' as DirHash,
  projectHash: '0123456789abcdef' as DirHash,
  inode: '1',
  birthtimeNs: '1764550000123456789',
};

export function casStore(home: string, hook?: StepHook, now: () => number = systemClock.now): SnapshotStore {
  const layout = homeLayout(home);
  const fs = createFileSystem(hook);
  return openCasStore({ layout, fs, locks: createLocks(layout.locks, createFileSystem()), clock: { now } });
}

/** Writes and publishes one checkpoint. */
export async function casCheckpoint(
  store: SnapshotStore,
  specs: Readonly<Record<string, Spec>>,
  seq: number,
  options: { readonly base?: ContentHash; readonly session?: string } = {},
): Promise<CheckpointRecord> {
  const { ref } = await store.write(draft(specs, options.base));
  const record = recordOf(ref, CAS_WORKSPACE, 'cas', {
    seq,
    sessionId: (options.session ?? 's') as SessionId,
  });
  await store.publish(record);
  return record;
}

/** What a killed process or an injected fault interrupts. */
export const CAS_ACTIONS = ['capture', 'collect', 'purge'] as const;
export type CasAction = (typeof CAS_ACTIONS)[number];

/**
 * Fills a home so that every action has something of each kind to do: packs to drop, to rewrite and to merge, a fan-out and a session directory to
 * make and to empty. Returns the checkpoints that every fault must leave whole.
 */
export async function prepareCasHome(home: string): Promise<readonly CheckpointRecord[]> {
  const store = casStore(home);
  const large = noise(1_200_000, 1);
  const kept: CheckpointRecord[] = [];
  const doomed: CheckpointRecord[] = [];
  kept.push(await casCheckpoint(store, { a: 'a', 'secret.txt': 'secret', large }, 0));
  doomed.push(
    await casCheckpoint(store, { huge: noise(1_300_000, 2), held: 'held' }, 0, { session: 'gone' }),
  );
  kept.push(await casCheckpoint(store, { held: 'held', b: noise(1000, 3) }, 1));
  doomed.push(await casCheckpoint(store, { lone: noise(5000, 4) }, 1, { session: 'gone' }));
  for (let seq = 2; seq < 10; seq += 1) kept.push(await casCheckpoint(store, { a: `a${seq}` }, seq));
  for (const { id, sessionId, seq } of doomed) await store.retract({ id, sessionId, seq, sandboxRef: null });
  await store.close();
  return kept;
}

/** Does one action on a prepared home.. */
export async function actOnCasHome(
  store: SnapshotStore,
  action: CasAction,
  kept: readonly CheckpointRecord[],
): Promise<void> {
  const [first] = kept;
  if (action === 'capture') {
    const specs = { a: 'edited', 'new/file': noise(300_000, 5), large: undefined };
    await casCheckpoint(store, specs, 0, { session: 'fresh', ...(first && { base: first.snapshot.root }) });
  } else if (action === 'collect') await store.collect({ minAgeMs: 0, thorough: true, dryRun: false });
  else await store.purge(kept, (path) => path === 'secret.txt' || path === 'held');
}
