import { createHash } from 'node:crypto';
import type { ContentHash } from '../domain/ids.ts';
import { readStrings, stringsBytes, writeStrings } from './string-section.ts';
import { NameColumn } from './walk/name-column.ts';
import { type CacheMeta, TableCache } from './walk/table-cache.ts';
import { bufferBytes, TreeTable } from './walk/tree-table.ts';

/**
 * A stat cache as bytes: a fixed header, the rows' columns as they lie in memory, names, link targets and the rest as JSON.
 *
 * ```
 * 0  magic "WMSTAT", format u16   8  SHA-256 of everything from 40 on   40  rows, bytes of names, of targets, of JSON: u32 each
 * 56 zeros to 64                  64 columns, names, targets, JSON, each padded to 8
 * ```
 * Multi-byte values are in the machine's order: a cache never travels. The bytes are shared memory, so that other threads can work on the rows.
 */
export type CacheBytes = Buffer<SharedArrayBuffer>;

const MAGIC = Buffer.from('WMSTAT');
const FORMAT = 1;
export const HEADER_BYTES = 64;
const HASHED_FROM = 40;

export function allocateCacheBytes(length: number): CacheBytes {
  return Buffer.from(new SharedArrayBuffer(length));
}

export function encodeCache({ root, table, meta }: TableCache): CacheBytes {
  const names = table.names.slice(0, table.count);
  const json = Buffer.from(JSON.stringify({ root, meta }));
  const lengths = [bufferBytes(table.count), stringsBytes(names), stringsBytes(table.targets), json.length];
  const bytes = allocateCacheBytes(lengths.reduce((sum, length) => sum + padTo8(length), HEADER_BYTES));
  MAGIC.copy(bytes);
  bytes.writeUInt16LE(FORMAT, 6);
  [table.count, ...lengths.slice(1)].forEach((value, at) => {
    bytes.writeUInt32LE(value, HASHED_FROM + at * 4);
  });
  const [, namesAt, targets, text] = sectionsOf(bytes);
  table.copyColumns(bytes.buffer, bytes.byteOffset + HEADER_BYTES);
  writeStrings(names, namesAt);
  writeStrings(table.targets, targets);
  json.copy(text);
  digestOf(bytes).copy(bytes, 8);
  return bytes;
}

/** Undefined: damaged, or of another format. */
export function decodeCache(bytes: CacheBytes): TableCache | undefined {
  if (bytes.length < HEADER_BYTES || !bytes.subarray(0, 6).equals(MAGIC)) return undefined;
  if (bytes.readUInt16LE(6) !== FORMAT || !digestOf(bytes).equals(bytes.subarray(8, HASHED_FROM))) {
    return undefined;
  }
  const [, , targets, text] = sectionsOf(bytes);
  const table = decodeTable(bytes);
  const links = readStrings(targets);
  table.targets = Array.from({ length: links.count }, (_, at) => links.at(at));
  const { root, meta } = JSON.parse(text.toString('utf8')) as {
    readonly root: ContentHash;
    readonly meta: CacheMeta;
  };
  return new TableCache(root, table, meta, bytes);
}

/** The table alone, without link targets, from bytes known to be whole. */
export function decodeTable(bytes: CacheBytes): TreeTable {
  const rows = bytes.readUInt32LE(HASHED_FROM);
  const [columns, names] = sectionsOf(bytes);
  const table = new TreeTable(rows, columns.buffer, columns.byteOffset);
  table.count = rows;
  table.names = new NameColumn(readStrings(names));
  return table;
}

/** Columns, names, targets, JSON. */
function sectionsOf(bytes: CacheBytes): readonly [CacheBytes, CacheBytes, CacheBytes, CacheBytes] {
  const [rows = 0, names = 0, targets = 0, json = 0] = [0, 1, 2, 3].map((at) =>
    bytes.readUInt32LE(HASHED_FROM + at * 4),
  );
  let at = HEADER_BYTES;
  const take = (length: number): CacheBytes => {
    const start = at;
    at += padTo8(length);
    return bytes.subarray(start, start + length) as CacheBytes;
  };
  return [take(bufferBytes(rows)), take(names), take(targets), take(json)];
}

function digestOf(bytes: CacheBytes): Buffer {
  return createHash('sha256').update(bytes.subarray(HASHED_FROM)).digest();
}

function padTo8(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}
