import { WaymarkError } from '../domain/errors.ts';
import { EXIT_STATUS } from './exit-status.ts';
import type { Format } from './format.ts';
import { paint } from './render/paint.ts';
import { printable } from './render/printable.ts';
import { structured } from './render/structured.ts';
import type { Terminal } from './terminal.ts';

/** Prints a failure: an object on standard output for `json` and `yaml`, else a line and a hint on standard error. */
export async function reportFailure(
  terminal: Terminal,
  format: Format,
  error: unknown,
  debug: boolean,
): Promise<number> {
  const failure = asWaymarkError(error);
  if (format === 'json' || format === 'yaml') {
    await terminal.stream(await structured({ error: errorObject(failure) }, format));
  } else {
    const colors = terminal.colorErr;
    terminal.err(`${paint('waymark:', 'bad', colors)} ${messageLines(failure)}\n`);
    if (failure.hint !== undefined)
      terminal.err(`${paint('hint:', 'accent', colors)} ${printable(failure.hint)}\n`);
  }
  if (debug) terminal.err(`${stackOf(error)}\n`);
  return EXIT_STATUS[failure.code];
}

/** The problems of a document stand on a line each; the message of anything else is one line. */
function messageLines({ message, details }: WaymarkError): string {
  return details?.['problems'] === undefined
    ? printable(message)
    : message.split('\n').map(printable).join('\n');
}

/** `{ code, message, hint }`, and `details` where there are any. */
function errorObject({ code, message, hint, details }: WaymarkError): object {
  return { code, message, hint: hint ?? null, ...(details === undefined ? {} : { details }) };
}

const ERRNO_CODES: Readonly<Record<string, WaymarkError['code']>> = {
  ENOSPC: 'NO_SPACE',
  EDQUOT: 'NO_SPACE',
  EACCES: 'PERMISSION_DENIED',
  EPERM: 'PERMISSION_DENIED',
  EROFS: 'PERMISSION_DENIED',
};

/** Gives any thrown thing a code from the closed set. */
export function asWaymarkError(error: unknown): WaymarkError {
  if (error instanceof WaymarkError) return error;
  const { code, syscall, name, message } = error as Partial<NodeJS.ErrnoException>;
  if (name === 'AbortError') return new WaymarkError('INTERRUPTED', 'Interrupted', { cause: error });
  if (typeof code === 'string' && syscall !== undefined) {
    return new WaymarkError(ERRNO_CODES[code] ?? 'IO_ERROR', message ?? code, { cause: error });
  }
  return new WaymarkError('INTERNAL', message ?? String(error), {
    cause: error,
    hint: 'This is a fault in Waymark; WAYMARK_DEBUG=1 shows where',
  });
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\ncaused by: ${stackOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
