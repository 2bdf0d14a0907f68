import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WaymarkError } from '../../domain/errors.ts';
import { isOpenSomewhere } from '../../platform/open-files.ts';
import type { ShadowContext } from './shadow-context.ts';

/** A lock file that is younger and not open may be in a moment between git's close and rename, ms. */
const SETTLE_MS = 250;

/**
 * Takes the exclusive lock under which the repository changes. A git of somebody else that works there is waited for; an `index.lock` that no
 * live process has open is dead and removed with a warning.
 *
 * @throws WaymarkError `STORE_BUSY`
 */
export async function lockStage(context: ShadowContext): Promise<Disposable> {
  const { locks, identity, waitMs } = context;
  const end = performance.now() + waitMs;
  const hold = await locks.acquire(`store-git-${identity.dirHash}-stage`, 'exclusive', waitMs);
  if (hold === undefined) {
    throw new WaymarkError('STORE_BUSY', `Another capture holds the shadow repository ${context.gitDir}`);
  }
  try {
    await awaitIndexLock(context, end);
    return hold;
  } catch (error) {
    hold[Symbol.dispose]();
    throw error;
  }
}

async function awaitIndexLock(context: ShadowContext, end: number): Promise<void> {
  const path = join(context.gitDir, 'index.lock');
  let idle: { readonly identity: string; readonly since: number } | undefined;
  for (;;) {
    const stats = lstatSync(path, { throwIfNoEntry: false, bigint: true });
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
