import { createHash } from 'node:crypto';
import type { ContentHash } from '../domain/ids.ts';
import { fillParents } from './scout/parents.ts';
import { readStrings, stringsBytes, writeStrings } from './string-section.ts';
import { NameColumn } from './walk/name-column.ts';
import { type CacheMeta, TableCache } from './walk/table-cache.ts';
import { bufferBytes, TreeTable } from './walk/tree-table.ts';

/**
 * A stat cache as bytes: a fixed header and five sections, each padded to a multiple of 8.
 *
 * ```
 * 0  magic "WMSTAT", format u16   8  SHA-256 of everything from 40 on   40  rows, bytes of names, of targets, of JSON: u32 each
 * 56 zeros to 64                  64 the rows' columns as they lie in memory; the row of each row's directory, u32; names; link targets;
 *                                    the rest as JSON
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
  const sizes = {
    rows: table.count,
    names: stringsBytes(names),
    targets: stringsBytes(table.targets),
    json: json.length,
  };
  const bytes = allocateCacheBytes(fileBytes(sizes));
  MAGIC.copy(bytes);
  bytes.writeUInt16LE(FORMAT, 6);
  [sizes.rows, sizes.names, sizes.targets, sizes.json].forEach((value, at) => {
    bytes.writeUInt32LE(value, HASHED_FROM + at * 4);
  });
  const sections = sectionsOf(bytes);
  table.copyColumns(bytes.buffer, sections.columns.byteOffset);
  fillParents(table, numbersIn(sections.directories));
  writeStrings(names, sections.names);
  writeStrings(table.targets, sections.targets);
  json.copy(sections.json);
  digestOf(bytes).copy(bytes, 8);
  return bytes;
}

/** Undefined: damaged, or of another format. */
export function decodeCache(bytes: CacheBytes): TableCache | undefined {
  if (bytes.length < HEADER_BYTES || !bytes.subarray(0, 6).equals(MAGIC)) return undefined;
  if (bytes.readUInt16LE(6) !== FORMAT || !digestOf(bytes).equals(bytes.subarray(8, HASHED_FROM))) {
    return undefined;
  }
  const { targets, json } = sectionsOf(bytes);
  const table = decodeTable(bytes);
  const links = readStrings(targets);
  table.targets = Array.from({ length: links.count }, (_, at) => links.at(at));
  const { root, meta } = JSON.parse(json.toString('utf8')) as {
    readonly root: ContentHash;
    readonly meta: CacheMeta;
  };
  return new TableCache(root, table, meta, bytes);
}

/** The table alone, without link targets, from bytes known to be whole. */
export function decodeTable(bytes: CacheBytes): TreeTable {
  const { columns, names } = sectionsOf(bytes);
  const { rows } = sizesOf(bytes);
  const table = new TreeTable(rows, columns.buffer, columns.byteOffset);
  table.count = rows;
  table.names = new NameColumn(readStrings(names));
  return table;
}

/** The row of the directory that each row lies in, as {@link fillParents} left it. */
export function decodeParents(bytes: CacheBytes): Uint32Array {
  return numbersIn(sectionsOf(bytes).directories);
}

interface Sizes {
  readonly rows: number;
  /** bytes, like the next two */
  readonly names: number;
  readonly targets: number;
  readonly json: number;
}

function sizesOf(bytes: CacheBytes): Sizes {
  const at = (index: number) => bytes.readUInt32LE(HASHED_FROM + index * 4);
  return { rows: at(0), names: at(1), targets: at(2), json: at(3) };
}

function fileBytes({ rows, names, targets, json }: Sizes): number {
  const sections = [bufferBytes(rows), rows * 4, names, targets, json];
  return sections.reduce((sum, length) => sum + padTo8(length), HEADER_BYTES);
}

function sectionsOf(bytes: CacheBytes) {
  const { rows, names, targets, json } = sizesOf(bytes);
  let at = HEADER_BYTES;
  const take = (length: number): CacheBytes => {
    const start = at;
    at += padTo8(length);
    return bytes.subarray(start, start + length) as CacheBytes;
  };
  return {
    columns: take(bufferBytes(rows)),
    directories: take(rows * 4),
    names: take(names),
    targets: take(targets),
    json: take(json),
  };
}

function numbersIn(section: CacheBytes): Uint32Array {
  return new Uint32Array(section.buffer, section.byteOffset, section.length / 4);
}

function digestOf(bytes: CacheBytes): Buffer {
  return createHash('sha256').update(bytes.subarray(HASHED_FROM)).digest();
}

function padTo8(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}
