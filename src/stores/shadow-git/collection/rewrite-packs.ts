import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isWaymarkError } from '../../../domain/errors.ts';
import { syncDirectory } from '../../../platform/durable-write.ts';
import { diskSize } from '../../disk-size.ts';
import { readPackNames } from '../objects/pack-names.ts';
import type { ObjectName } from '../repository/fast-import.ts';
import { type ShadowContext, shadowGit } from '../repository/shadow-context.ts';
import type { PackContent, RewritePlan } from './plan-rewrite.ts';

/** Lists the packs with the names of their objects. @throws WaymarkError `OBJECT_CORRUPT` */
export function readPacks(
  context: ShadowContext,
  isYoung: (path: string) => boolean,
): readonly PackContent[] {
  const directory = join(context.gitDir, 'objects', 'pack');
  return readdirSync(directory)
    .filter((file) => /^pack-[0-9a-f]+\.idx$/.test(file))
    .map((file) => {
      const name = file.slice(0, -'.idx'.length);
      return {
        name,
        objects: readPackNames(join(directory, file)),
        isYoung: isYoung(join(directory, `${name}.pack`)),
      };
    });
}

/** Bytes on disk that a plan gives back. A pack's index takes about 32 bytes an object. */
export function bytesFreed(context: ShadowContext, plan: RewritePlan): number {
  const directory = join(context.gitDir, 'objects', 'pack');
  const replaced = new Set([...plan.remove, ...plan.batches.flatMap(({ packs }) => packs)]);
  const now = readdirSync(directory)
    .filter((file) => replaced.has(nameOf(file)))
    .reduce((bytes, file) => bytes + diskSize(join(directory, file)), 0);
  const later = plan.batches.reduce(
    (bytes, { keep, keptBytes }) => bytes + blocks(keptBytes) + blocks(1072 + 32 * keep.length),
    0,
  );
  return now - later;
}

function blocks(bytes: number): number {
  return Math.ceil(bytes / 4096) * 4096;
}

/** Executes a plan: what is dead goes first, so that a full disk gets room. A kill leaves every needed object in at least one pack. */
export async function rewritePacks(context: ShadowContext, plan: RewritePlan): Promise<void> {
  removePacks(context, plan.remove);
  for (const batch of plan.batches) {
    try {
      await rewrite(context, batch);
    } catch (error) {
      if (!isWaymarkError(error, 'NO_SPACE') || batch.packs.length === 1) throw error;
      await rewriteOneByOne(context, batch);
    }
  }
}

async function rewriteOneByOne(context: ShadowContext, batch: RewritePlan['batches'][number]): Promise<void> {
  const keep = new Set(batch.keep);
  const packs = readPacks(context, () => false).filter(({ name }) => batch.packs.includes(name));
  for (const { name, objects } of packs) {
    await rewrite(context, { packs: [name], keep: objects.filter((object) => keep.has(object)) });
  }
}

async function rewrite(
  context: ShadowContext,
  { packs, keep }: { readonly packs: readonly string[]; readonly keep: readonly ObjectName[] },
): Promise<void> {
  const directory = join(context.gitDir, 'objects', 'pack');
  const { stdout } = await shadowGit(context, {
    args: ['-c', 'pack.writeReverseIndex=false', 'pack-objects', '-q', join(directory, 'pack')],
    input: [...new Set(keep)].map((name) => `${name}\n`).join(''),
  });
  syncDirectory(context.fs, directory);
  const written = `pack-${stdout.toString('latin1').trim()}`;
  removePacks(
    context,
    packs.filter((name) => name !== written),
  );
}

function removePacks({ fs, gitDir }: ShadowContext, names: readonly string[]): void {
  if (names.length === 0) return;
  const directory = join(gitDir, 'objects', 'pack');
  const gone = new Set(names);
  // the index first: a pack without one is not looked at
  const files = readdirSync(directory)
    .filter((file) => gone.has(nameOf(file)))
    .sort((a, b) => Number(b.endsWith('.idx')) - Number(a.endsWith('.idx')));
  for (const file of files) fs.unlink(join(directory, file));
  syncDirectory(fs, directory);
}

function nameOf(file: string): string {
  return file.slice(0, file.lastIndexOf('.'));
}
