import { WaymarkError } from '../../domain/errors.ts';
import { quotePath, type RelPath } from '../../domain/rel-path.ts';
import type { SkipReason } from '../../domain/snapshot.ts';

/** An error with the code of the system call that would have failed. */
export function failure(code: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${message}`), { code });
}

export function corruptContent(hash: string): WaymarkError {
  return new WaymarkError('OBJECT_CORRUPT', `Blob ${hash} does not hold the content that its name says`);
}

/** The code of a failed system call, or undefined for any other error. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);
/** Failures of the machine, not of one path: going on would only repeat them. */
const MACHINE: ReadonlySet<string> = new Set(['EIO', 'EROFS', 'EMFILE', 'ENFILE', 'ENOMEM', 'ESTALE']);
/** Signs that the path is not what it was when it was looked at. */
const MOVED: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EEXIST', 'ENOTEMPTY']);

/**
 * Tells why a path must be left alone after a failed call.
 *
 * @throws WaymarkError `NO_SPACE`, `IO_ERROR` for failures that stop the whole restore; anything that is no system error as it is
 */
export function skipReasonOf(error: unknown, path: RelPath): SkipReason {
  const code = codeOf(error);
  if (code === undefined) throw error;
  if (FULL.has(code)) throw stopped('NO_SPACE', `No space left while restoring ${quotePath(path)}`, error);
  if (MACHINE.has(code)) throw stopped('IO_ERROR', `Restoring ${quotePath(path)} failed: ${code}`, error);
  if (MOVED.has(code)) return 'changed';
  return code === 'EXDEV' ? 'other_device' : 'blocked';
}

function stopped(code: 'NO_SPACE' | 'IO_ERROR', message: string, cause: unknown): WaymarkError {
  return new WaymarkError(code, message, {
    hint: 'Finish or take back the restore with: waymark recover --continue | --abort',
    cause,
  });
}
