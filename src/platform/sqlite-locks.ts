import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { WaymarkError } from '../domain/errors.ts';
import { ensurePrivateDirectory, isTemporaryName, removeIfPresent } from './durable-write.ts';
import type { FileSystem } from './file-system.ts';
import type { LockHold, Locks } from './lock.ts';
import { holdLockFile, isLockFileHeld, removeLockFile } from './lock-file.ts';
import { backoff, sleepSync } from './sleep.ts';

type Mode = LockHold['mode'];

/** A probe or another's failing attempt holds a lock for some 20 µs; a few tries tell that from a holder. */
const TRIES = 3;

/** Creates the locks whose files lie in `directory`. The lock `name` is the file of that name; it stays when the lock is freed. */
export function createLocks(directory: string, fs: FileSystem): Locks {
  // A database that is garbage collected frees its lock, even if its owner forgot the hold rather than ended it.
  const held = new Set<DatabaseSync>();
  let prepared = false;

  function tryOnce(name: string, mode: Mode): LockHold | undefined {
    if (!prepared) {
      ensurePrivateDirectory(fs, directory);
      prepared = true;
    }
    const database = holdLockFile(fs, join(directory, name), mode);
    if (database === undefined) return undefined;
    held.add(database);
    return {
      name,
      mode,
      [Symbol.dispose]() {
        if (held.delete(database)) database.close();
      },
    };
  }

  function tryAcquire(name: string, mode: Mode): LockHold | undefined {
    checkName(name);
    for (let attempt = 1; ; attempt += 1) {
      const hold = tryOnce(name, mode);
      if (hold !== undefined || attempt === TRIES) return hold;
      sleepSync(0.3 * attempt * (0.5 + Math.random()));
    }
  }

  return {
    tryAcquire,
    async acquire(name, mode, waitMs) {
      const end = performance.now() + waitMs;
      for (let attempt = 1; ; attempt += 1) {
        const hold = tryAcquire(name, mode);
        if (hold !== undefined) return hold;
        const left = end - performance.now();
        if (left <= 0) return undefined;
        await sleep(Math.min(left, backoff(attempt)));
      }
    },
    isHeld(name) {
      checkName(name);
      for (let attempt = 1; ; attempt += 1) {
        const heldNow = isLockFileHeld(join(directory, name));
        if (!heldNow || attempt === TRIES) return heldNow;
        sleepSync(0.3 * attempt * (0.5 + Math.random()));
      }
    },
    sweep(before) {
      let removed = 0;
      if (!existsSync(directory)) return 0;
      for (const name of readdirSync(directory)) {
        const path = join(directory, name);
        const stats = statSync(path, { throwIfNoEntry: false });
        if (stats === undefined || !stats.isFile() || stats.ctimeMs >= before) continue;
        const gone = isTemporaryName(name)
          ? removeIfPresent(fs, path)
          : NAME.test(name) && removeLockFile(fs, path);
        if (gone) removed += 1;
      }
      return removed;
    },
  };
}

const NAME = /^[a-z0-9._-]+$/;

function checkName(name: string): void {
  if (!NAME.test(name) || name.startsWith('.') || name.endsWith('-journal'))
    throw new WaymarkError('INTERNAL', `"${name}" cannot name a lock`);
}
