import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WaymarkError } from '../../../domain/errors.ts';
import { isOpenSomewhere } from '../../../platform/open-files.ts';
import type { ShadowContext } from './shadow-context.ts';

/** A lock file that nobody has open may lie between git's close and rename for a moment, ms. */
const SETTLE_MS = 250;

/**
 * Takes the exclusive lock under which the repository changes. A git of somebody else that works there is waited for; an `index.lock` (or
 * another lock of the repository's own files) that no live process has open is dead and removed with a warning.
 *
 * @throws WaymarkError `STORE_BUSY`
 */
export async function lockStage(context: ShadowContext): Promise<Disposable> {
  const { locks, identity, waitMs, gitDir } = context;
  const end = performance.now() + waitMs;
  const hold = await locks.acquire(`store-git-${identity.dirHash}-stage`, 'exclusive', waitMs);
  if (hold === undefined) {
    throw new WaymarkError('STORE_BUSY', `Another capture holds the shadow repository ${gitDir}`);
  }
  try {
    for (const name of locksIn(gitDir)) await awaitLockFile(context, join(gitDir, name), end);
    return hold;
  } catch (error) {
    hold[Symbol.dispose]();
    throw error;
  }
}

/** Waits until nothing locks the refs. Call under the stage lock. */
export async function awaitRefLocks(context: ShadowContext, refs: readonly string[]): Promise<void> {
  const end = performance.now() + context.waitMs;
  for (const ref of refs) await awaitLockFile(context, join(context.gitDir, `${ref}.lock`), end);
}

function locksIn(gitDir: string): readonly string[] {
  try {
    return readdirSync(gitDir).filter((name) => name.endsWith('.lock'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function awaitLockFile(context: ShadowContext, path: string, end: number): Promise<void> {
  let idle: { readonly identity: string; readonly since: number } | undefined;
  for (;;) {
    const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
    if (stats === undefined) return;
    const now = performance.now();
    const identity = `${stats.ino} ${stats.mtimeNs}`;
    if (isOpenSomewhere(path) !== false) idle = undefined;
    else if (idle?.identity !== identity) idle = { identity, since: now };
    else if (now - idle.since >= SETTLE_MS) {
      context.fs.unlink(path);
      context.warn(`Removed ${path}: no live process holds it`);
      return;
    }
    if (now >= end && idle === undefined) {
      throw new WaymarkError('STORE_BUSY', `A live process holds ${path}`, {
        hint: 'Wait for the git command that works on the shadow repository, then try again',
      });
    }
    await sleep(25);
  }
}
