import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WaymarkError } from '../domain/errors.ts';
import { encodeName, quotePath } from '../domain/rel-path.ts';
import { durableWrite, ensurePrivateDirectory } from '../platform/durable-write.ts';
import type { FileSystem } from '../platform/file-system.ts';
import { readConfigFile } from './config-file.ts';

/** What was trusted: a file as it is now, by its SHA-256. */
export interface Trust {
  readonly file: string;
  readonly sha256: string;
}

/**
 * Records that commands in `file` may be run, as long as its bytes stay what they are now.
 *
 * @throws WaymarkError `PATH_NOT_FOUND` without the file, `CONFIG_INVALID` where it can't be read
 */
export function trustFile(fs: FileSystem, home: string, file: string): Trust {
  const config = readConfigFile(file);
  if (config === undefined) {
    throw new WaymarkError('PATH_NOT_FOUND', `There is no ${quotePath(file)} to trust`, {
      hint: 'waymark init writes one',
    });
  }
  ensurePrivateDirectory(fs, join(home, 'trust'));
  const record = { path: file, sha256: config.sha256 };
  durableWrite(fs, recordPath(home, file), Buffer.from(`${JSON.stringify(record)}\n`));
  return { file, sha256: config.sha256 };
}

/** Takes trust back. No error where there was none. */
export function distrustFile(fs: FileSystem, home: string, file: string): void {
  try {
    fs.unlink(recordPath(home, file));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
  }
}

/** Tells whether `file` is trusted with the bytes it has now. */
export function isTrusted(home: string, file: string): boolean {
  const config = readConfigFile(file);
  return config !== undefined && isTrustedContent(home, file, config.sha256);
}

/** Tells whether `file` was trusted when its SHA-256 was `sha256`. A damaged record is no trust. */
export function isTrustedContent(home: string, file: string, sha256: string): boolean {
  let text: string;
  try {
    text = readFileSync(recordPath(home, file), 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw new WaymarkError('IO_ERROR', `Cannot read the trust record of ${quotePath(file)}`, { cause });
  }
  const record = parseRecord(text);
  return record?.path === file && record.sha256 === sha256;
}

function parseRecord(text: string): { readonly path?: unknown; readonly sha256?: unknown } | undefined {
  try {
    return JSON.parse(text) as { path?: unknown; sha256?: unknown };
  } catch {
    return undefined;
  }
}

function recordPath(home: string, file: string): string {
  return join(home, 'trust', `${createHash('sha256').update(encodeName(file)).digest('hex')}.json`);
}
