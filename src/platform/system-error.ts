import { type ErrorCode, WaymarkError } from '../domain/errors.ts';

const CODES: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ENOSPC: ['NO_SPACE', 'no space left on the device'],
  EDQUOT: ['NO_SPACE', 'the disk quota is used up'],
  EACCES: ['PERMISSION_DENIED', 'permission denied'],
  EPERM: ['PERMISSION_DENIED', 'operation not permitted'],
  EROFS: ['PERMISSION_DENIED', 'the file system is read-only'],
};

/**
 * Turns an error of a system call on a file of ours into the one error class: `NO_SPACE`, `PERMISSION_DENIED`, else `IO_ERROR`.
 * Any other error is returned as it is.
 *
 * @param doing what could not be done, as in "Cannot write"
 */
export function systemError(error: unknown, doing: string, path: string): unknown {
  const code = errorCode(error);
  if (code === undefined) return error;
  const [mapped, text] = CODES[code] ?? ['IO_ERROR' as const, (error as Error).message];
  return new WaymarkError(mapped, `Cannot ${doing} ${path}: ${text}`, {
    cause: error,
    ...(mapped === 'NO_SPACE' && { hint: 'Free some space or run: waymark checkpoints prune' }),
  });
}

/** The code of a system error (`ENOENT`…), or undefined. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || error instanceof WaymarkError) return undefined;
  const code = (error as NodeJS.ErrnoException).code;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}
