import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineName } from '../domain/checkpoint.ts';
import type { ContentHash, DirHash } from '../domain/ids.ts';
import { ensurePrivateDirectory } from '../platform/durable-write.ts';
import type { FileSystem } from '../platform/file-system.ts';
import { replaceFile } from '../platform/replace-file.ts';
import type { StatCache } from './stat-cache.ts';
import { readStrings, writeStrings } from './string-section.ts';
import { type CacheMeta, TableCache } from './walk/table-cache.ts';
import { bufferBytes, TreeTable } from './walk/tree-table.ts';

/**
 * One file per workspace and engine: a fixed header, the rows' columns as they lie in memory, names, link targets and the rest as JSON.
 *
 * ```
 * 0  magic "WMSTAT", format u16   8  SHA-256 of everything from 40 on   40  rows, bytes of names, of targets, of JSON: u32 each
 * 56 zeros to 64                  64 columns, names, targets, JSON, each padded to 8
 * ```
 * Multi-byte values are in the machine's order: a cache never travels.
 */
const MAGIC = Buffer.from('WMSTAT');
const FORMAT = 1;
const HEADER_BYTES = 64;
const HASHED_FROM = 40;

/** Loads a workspace's stat cache; undefined where there is none, it is damaged or of another format. */
export function loadStatCache(
  directory: string,
  dirHash: DirHash,
  engine: EngineName,
): StatCache | undefined {
  const bytes = readCache(fileOf(directory, dirHash, engine));
  return bytes && decode(bytes);
}

/** Replaces a workspace's stat cache. Not durable: a torn file is recognised and counts as none. */
export function saveStatCache(
  fs: FileSystem,
  directory: string,
  dirHash: DirHash,
  engine: EngineName,
  cache: StatCache,
): void {
  if (!(cache instanceof TableCache)) return;
  ensurePrivateDirectory(fs, directory);
  replaceFile(fs, fileOf(directory, dirHash, engine), encode(cache));
}

function fileOf(directory: string, dirHash: DirHash, engine: EngineName): string {
  return join(directory, `${dirHash}-${engine}.stat`);
}

function readCache(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

function encode({ root, table, meta }: TableCache): Buffer {
  const names = writeStrings(table.names);
  const targets = writeStrings(table.targets);
  const json = Buffer.from(JSON.stringify({ root, meta }));
  const columns = table.exactColumns();
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt16LE(FORMAT, 6);
  [table.count, names.length, targets.length, json.length].forEach((value, at) => {
    header.writeUInt32LE(value, HASHED_FROM + at * 4);
  });
  const file = Buffer.concat([header, ...[columns, names, targets, json].flatMap(padded)]);
  digestOf(file).copy(header, 8);
  header.copy(file);
  return file;
}

function decode(file: Buffer): TableCache | undefined {
  if (file.length < HEADER_BYTES || !file.subarray(0, 6).equals(MAGIC)) return undefined;
  if (file.readUInt16LE(6) !== FORMAT || !digestOf(file).equals(file.subarray(8, HASHED_FROM))) {
    return undefined;
  }
  const [rows = 0, nameBytes = 0, targetBytes = 0, jsonBytes = 0] = [0, 1, 2, 3].map((at) =>
    file.readUInt32LE(HASHED_FROM + at * 4),
  );
  let at = HEADER_BYTES;
  const take = (bytes: number) => {
    const part = file.subarray(at, at + bytes);
    at += padTo8(bytes);
    return part;
  };
  const columns = aligned(take(bufferBytes(rows)));
  const table = new TreeTable(rows, columns.buffer as ArrayBuffer, columns.byteOffset);
  table.count = rows;
  for (const name of readStrings(take(nameBytes))) table.names.push(name);
  for (const target of readStrings(take(targetBytes))) table.targets.push(target);
  const { root, meta } = JSON.parse(take(jsonBytes).toString('utf8')) as {
    readonly root: ContentHash;
    readonly meta: CacheMeta;
  };
  return new TableCache(root, table, meta);
}

function digestOf(file: Buffer): Buffer {
  return createHash('sha256').update(file.subarray(HASHED_FROM)).digest();
}

function padTo8(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

function padded(part: Buffer): Buffer[] {
  return [part, Buffer.alloc(padTo8(part.length) - part.length)];
}

/** Typed arrays of 8-byte elements need an offset that is a multiple of 8; a file buffer mostly has one. */
function aligned(part: Buffer): Buffer {
  return part.byteOffset % 8 === 0 ? part : Buffer.from(new Uint8Array(part).buffer);
}
