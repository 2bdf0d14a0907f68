import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { WaymarkError } from '../domain/errors.ts';
import { quotePath, toFsPath } from '../domain/rel-path.ts';

/** The name of a configuration file, in a workspace and in the user's configuration directory. */
export const CONFIG_FILE_NAME = 'waymark.toml';

/** Far above any real file; keeps a hostile one from filling memory. */
const MAX_CONFIG_BYTES = 1024 ** 2;

/** A parsed file. `sha256` is of exactly the bytes that were parsed. */
export interface ConfigFile {
  readonly path: string;
  readonly text: string;
  readonly sha256: string;
  readonly table: Readonly<Record<string, unknown>>;
}

/**
 * Reads and parses a configuration file.
 *
 * @returns undefined where there is none
 * @throws WaymarkError `CONFIG_INVALID` naming file and line for anything but a readable TOML file
 */
export function readConfigFile(path: string): ConfigFile | undefined {
  const bytes = readRegularFile(path);
  if (bytes === undefined) return undefined;
  const text = decodeUtf8(path, bytes);
  return { path, text, sha256: createHash('sha256').update(bytes).digest('hex'), table: parse(path, text) };
}

/** The bytes of the file, undefined where it does not exist. Never blocks on a FIFO. */
function readRegularFile(path: string): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(toFsPath(path), constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw new WaymarkError('CONFIG_INVALID', `Cannot read ${quotePath(path)}: ${messageOf(cause)}`, {
      cause,
    });
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new WaymarkError('CONFIG_INVALID', `${quotePath(path)} is not a regular file`);
    return readAll(path, fd);
  } finally {
    closeSync(fd);
  }
}

function readAll(path: string, fd: number): Buffer {
  const buffer = Buffer.alloc(MAX_CONFIG_BYTES + 1);
  let length = 0;
  for (;;) {
    const count = readSync(fd, buffer, length, buffer.length - length, null);
    if (count === 0) return buffer.subarray(0, length);
    length += count;
    if (length > MAX_CONFIG_BYTES) {
      throw new WaymarkError('CONFIG_INVALID', `${quotePath(path)} is larger than 1 MiB`);
    }
  }
}

function decodeUtf8(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new WaymarkError('CONFIG_INVALID', `${quotePath(path)} is not UTF-8 text`, { cause });
  }
}

function parse(path: string, text: string): Readonly<Record<string, unknown>> {
  // Loaded here and not at the top: most workspaces have no file, and the parser costs 7 ms.
  const toml = createRequire(import.meta.url)('smol-toml') as typeof import('smol-toml');
  try {
    return toml.parse(text);
  } catch (cause) {
    // The parser's message goes on with an excerpt of the file, which may hold a secret.
    const [summary = ''] = messageOf(cause).split('\n');
    const line = cause instanceof toml.TomlError ? `:${cause.line}` : '';
    throw new WaymarkError('CONFIG_INVALID', `${quotePath(path)}${line}: ${summary}`, {
      hint: 'The file must be TOML: https://toml.io',
    });
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
