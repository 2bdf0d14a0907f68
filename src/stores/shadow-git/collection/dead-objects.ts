import type { ObjectName } from '../repository/fast-import.ts';
import { type ShadowContext, shadowGit } from '../repository/shadow-context.ts';

export interface CountedObject {
  /** as it lies in its pack */
  readonly bytes: number;
  readonly isBlob: boolean;
  readonly isLive: boolean;
}

/** What the repository holds and what of it is still needed. */
export interface ObjectCensus {
  readonly objects: ReadonlyMap<ObjectName, CountedObject>;
  readonly deadBlobs: number;
  readonly deadBytes: number;
  readonly liveBytes: number;
  readonly liveCount: number;
}

/** Tells which objects the `tips` reach. Throws `GIT_FAILED` where something that they need is missing. */
export async function countObjects(
  context: ShadowContext,
  tips: readonly ObjectName[],
): Promise<ObjectCensus> {
  const live = tips.length === 0 ? new Set<ObjectName>() : await reachable(context, tips);
  const { stdout } = await shadowGit(context, {
    args: [
      ...['cat-file', '--batch-all-objects', '--unordered', '--buffer'],
      '--batch-check=%(objectname) %(objectsize:disk) %(objecttype)',
    ],
  });
  const objects = new Map<ObjectName, CountedObject>();
  const sums = { deadBlobs: 0, deadBytes: 0, liveBytes: 0, liveCount: 0 };
  for (const line of stdout.toString('latin1').split('\n')) {
    const [name, size, type] = line.split(' ');
    if (!name || size === undefined) continue;
    const object = { bytes: Number(size), isBlob: type === 'blob', isLive: live.has(name) };
    objects.set(name, object);
    if (object.isLive) {
      sums.liveBytes += object.bytes;
      sums.liveCount += 1;
    } else {
      sums.deadBytes += object.bytes;
      if (object.isBlob) sums.deadBlobs += 1;
    }
  }
  return { objects, ...sums };
}

async function reachable(context: ShadowContext, tips: readonly ObjectName[]): Promise<Set<ObjectName>> {
  const { stdout } = await shadowGit(context, {
    args: ['rev-list', '--objects', '--no-object-names', '--stdin'],
    input: tips.map((tip) => `${tip}\n`).join(''),
  });
  return new Set(stdout.toString('latin1').split('\n'));
}
