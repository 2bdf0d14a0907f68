import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isTemporaryName } from '../../../platform/durable-write.ts';
import { isOpenSomewhere } from '../../../platform/open-files.ts';
import { removeDirectory } from '../../../platform/remove-directory.ts';
import type { ShadowContext } from '../repository/shadow-context.ts';

/** Younger remains may belong to somebody who is still at work, ms. */
const GRACE_MS = 60 * 60 * 1000;
/** A git that packs gives a pack its index at once; one that stays without was being removed, ms. */
const HALF_GRACE_MS = 10_000;

/**
 * Removes what killed processes left behind. Call under the stage lock and an exclusive hold on the store.
 *
 * @param thorough also the content of packs that were being removed a moment ago
 */
export function sweepRemains(context: ShadowContext, thorough: boolean): void {
  const { fs, gitDir } = context;
  const packs = join(gitDir, 'objects', 'pack');
  for (const name of namesIn(gitDir)) {
    const path = join(gitDir, name);
    const isRemain =
      isTemporaryName(name) || name.startsWith('tmp_') || name.startsWith('fast_import_crash_');
    if (isRemain && isOld(context, path)) fs.unlink(path);
    else if (name.endsWith('.lock')) removeDeadLock(context, path);
  }
  sweepLocks(context, join(gitDir, 'refs'));
  for (const name of namesIn(packs)) {
    const path = join(packs, name);
    if ((/^\.?tmp[-_]/.test(name) || isTemporaryName(name)) && isOld(context, path)) fs.unlink(path);
    // an import that was killed leaves its mark, and the pack would be kept for ever
    else if (name.endsWith('.keep')) fs.unlink(path);
    else if (isHalf(packs, name) && isOld(context, path, graceOf(name, thorough))) fs.unlink(path);
  }
  sweepSiblings(context);
}

function graceOf(name: string, thorough: boolean): number {
  return thorough && name.endsWith('.pack') ? HALF_GRACE_MS : GRACE_MS;
}

/** A pack without its index, or the other way round. */
function isHalf(packs: string, name: string): boolean {
  const other = name.endsWith('.pack') ? '.idx' : '.pack';
  return /^pack-/.test(name) && !existsSync(join(packs, name.slice(0, name.lastIndexOf('.')) + other));
}

/** Half-made and half-removed repositories beside this one. */
function sweepSiblings(context: ShadowContext): void {
  const parent = dirname(context.gitDir);
  for (const name of namesIn(parent)) {
    const path = join(parent, name);
    if (!name.startsWith(`${basename(context.gitDir)}.`) || !/\.(?:new|removed)-[0-9a-f]+$/.test(name))
      continue;
    if (isOld(context, path)) removeDirectory(context.fs, path);
  }
}

function sweepLocks(context: ShadowContext, directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) sweepLocks(context, path);
    else if (entry.name.endsWith('.lock')) removeDeadLock(context, path);
  }
}

function removeDeadLock(context: ShadowContext, path: string): void {
  if (isOpenSomewhere(path) !== false) return;
  context.fs.unlink(path);
  context.warn(`Removed ${path}: no live process holds it`);
}

function isOld(context: ShadowContext, path: string, graceMs = GRACE_MS): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats !== undefined && context.clock.now() - stats.mtimeMs > graceMs;
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
