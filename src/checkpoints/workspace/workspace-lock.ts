import { createHash } from 'node:crypto';
import path from 'node:path';
import { WaymarkError } from '../../domain/errors.ts';
import { encodeName } from '../../domain/rel-path.ts';
import type { LockHold, Locks } from '../../platform/lock.ts';

/** A workspace held for reading (captures) or for changing it (restores). Dispose to let go. */
export interface WorkspaceHold extends Disposable {
  readonly mode: 'shared' | 'exclusive';
}

/**
 * Locks a directory tree. The directory itself is held in the wanted mode and every directory above it shared, so an exclusive hold
 * conflicts with any hold on a directory below it. Whoever holds a tree shared and has to know what goes on further down names the workspaces
 * there (`inner`), which are held shared too.
 *
 * @throws WaymarkError `WORKSPACE_BUSY`
 */
export async function lockWorkspace(
  locks: Locks,
  root: string,
  mode: 'shared' | 'exclusive',
  waitMs: number,
  inner: readonly string[] = [],
): Promise<WorkspaceHold> {
  const holds: LockHold[] = [];
  const release = (): void => {
    for (const hold of holds.splice(0).reverse()) hold[Symbol.dispose]();
  };
  try {
    for (const directory of ancestors(root)) holds.push(await take(locks, directory, 'shared', waitMs, root));
    holds.push(await take(locks, root, mode, waitMs, root));
    for (const directory of inner) holds.push(await take(locks, directory, 'shared', waitMs, directory));
  } catch (error) {
    release();
    throw error;
  }
  return { mode, [Symbol.dispose]: release };
}

async function take(
  locks: Locks,
  directory: string,
  mode: 'shared' | 'exclusive',
  waitMs: number,
  root: string,
): Promise<LockHold> {
  const hold = await locks.acquire(lockName(directory), mode, waitMs);
  if (hold) return hold;
  throw new WaymarkError('WORKSPACE_BUSY', `Workspace ${root} is in use by another Waymark process`, {
    hint: 'Wait for it to finish and try again (see: waymark status)',
  });
}

function lockName(directory: string): string {
  return `tree-${createHash('sha256').update(encodeName(directory)).digest('hex').slice(0, 16)}`;
}

function ancestors(root: string): readonly string[] {
  const chain: string[] = [];
  for (let at = path.dirname(root); chain[0] !== at; at = path.dirname(at)) chain.unshift(at);
  return chain.filter((directory) => directory !== root);
}
