import type { ObjectName } from './fast-import.ts';
import { type ShadowContext, shadowGit } from './shadow-context.ts';

/** What the repository holds and what of it nothing needs any more. */
export interface ObjectCensus {
  readonly all: ReadonlySet<ObjectName>;
  readonly dead: number;
  readonly blobs: number;
  readonly deadBlobs: number;
  /** bytes in packs, as compressed */
  readonly bytes: number;
  readonly deadBytes: number;
}

/** Counts the objects that `tips` do not reach. Throws `GIT_FAILED` where something that they need is missing. */
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
  const all = new Set<ObjectName>();
  const census = { dead: 0, blobs: 0, deadBlobs: 0, bytes: 0, deadBytes: 0 };
  for (const line of stdout.toString('latin1').split('\n')) {
    const [name, size, type] = line.split(' ');
    if (!name || size === undefined) continue;
    const blob = type === 'blob' ? 1 : 0;
    all.add(name);
    census.bytes += Number(size);
    census.blobs += blob;
    if (live.has(name)) continue;
    census.dead += 1;
    census.deadBlobs += blob;
    census.deadBytes += Number(size);
  }
  return { all, ...census };
}

async function reachable(context: ShadowContext, tips: readonly ObjectName[]): Promise<Set<ObjectName>> {
  const { stdout } = await shadowGit(context, {
    args: ['rev-list', '--objects', '--no-object-names', '--stdin'],
    input: tips.map((tip) => `${tip}\n`).join(''),
  });
  return new Set(stdout.toString('latin1').split('\n'));
}
