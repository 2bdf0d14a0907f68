import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import type { Checkpoint } from '../../domain/checkpoint.ts';
import { WaymarkError } from '../../domain/errors.ts';
import { encodeName, quotePath, type RelPath, toFsPath } from '../../domain/rel-path.ts';
import type { Entry } from '../../domain/snapshot.ts';
import type { WorkspaceContext } from '../workspace/home-context.ts';

/** The bytes of one side of a change, of a checkpoint or (undefined) of the workspace as it is; undefined where there are none or too many. */
export async function readSide(
  context: WorkspaceContext,
  checkpoint: Checkpoint | undefined,
  path: RelPath,
  entry: Entry | undefined,
  maxBytes: number,
): Promise<Buffer | undefined> {
  if (entry === undefined || entry.kind === 'directory') return undefined;
  if (entry.kind === 'symlink') return encodeName(entry.target);
  if (entry.size > maxBytes) return undefined;
  if (checkpoint !== undefined)
    return await context.store(checkpoint.engine, checkpoint.workspace).readBlob(entry.hash);
  return readPresent(`${context.identity.path}/${path}`, path);
}

function readPresent(absolute: string, path: RelPath): Buffer {
  let fd: number | undefined;
  try {
    fd = openSync(toFsPath(absolute), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!fstatSync(fd).isFile()) throw new Error('not a regular file');
    return readFileSync(fd);
  } catch (cause) {
    throw new WaymarkError('IO_ERROR', `${quotePath(path)} changed while it was compared`, {
      hint: 'Try again',
      cause,
    });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
