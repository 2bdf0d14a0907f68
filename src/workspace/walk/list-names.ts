import { readdirSync } from 'node:fs';
import { WaymarkError } from '../../domain/errors.ts';
import { comparePaths, decodeName, quotePath, toFsPath } from '../../domain/rel-path.ts';

/** The names in a directory, sorted and byte-exact, or why they can't be had. */
export type Listing =
  | { readonly ok: true; readonly names: readonly string[] }
  /** `gone`: it is no directory any more */
  | { readonly ok: false; readonly gone: boolean };

/** @throws WaymarkError `IO_ERROR` where the process, not the directory, is the reason */
export function listNames(absolute: string): Listing {
  try {
    const path = toFsPath(absolute);
    const names = readdirSync(path);
    // U+FFFD stands where bytes are no UTF-8 (or for itself): read them again as bytes.
    const exact = names.some((name) => name.includes('\ufffd'))
      ? readdirSync(path, 'buffer').map(decodeName)
      : names;
    return { ok: true, names: exact.sort(comparePaths) };
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (isOurFault(code)) throw outOfResources(absolute, cause);
    return { ok: false, gone: code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' };
  }
}

export function isOurFault(code: string | undefined): boolean {
  return code === 'EMFILE' || code === 'ENFILE' || code === 'ENOMEM';
}

export function outOfResources(absolute: string, cause: unknown): WaymarkError {
  return new WaymarkError('IO_ERROR', `Cannot look at ${quotePath(absolute)}: ${(cause as Error).message}`, {
    cause,
  });
}
