import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckpointId } from '../../../domain/ids.ts';
import { durableWrite, ensurePrivateDirectory, syncDirectory } from '../../../platform/durable-write.ts';
import type { ShadowContext } from '../repository/shadow-context.ts';

const PINS = 'pins';

/** The checkpoints with a pin mark: an empty file of the checkpoint's name. */
export function readPins(gitDir: string): ReadonlySet<string> {
  const directory = join(gitDir, PINS);
  return new Set(existsSync(directory) ? readdirSync(directory) : []);
}

export function writePin({ fs, gitDir }: ShadowContext, id: CheckpointId): void {
  ensurePrivateDirectory(fs, join(gitDir, PINS));
  durableWrite(fs, join(gitDir, PINS, id), Buffer.alloc(0));
}

export function removePin({ fs, gitDir }: ShadowContext, id: CheckpointId): void {
  const path = join(gitDir, PINS, id);
  if (!existsSync(path)) return;
  fs.unlink(path);
  syncDirectory(fs, join(gitDir, PINS));
}
