import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineName } from '../domain/checkpoint.ts';
import type { DirHash } from '../domain/ids.ts';
import { ensurePrivateDirectory } from '../platform/durable-write.ts';
import type { FileSystem } from '../platform/file-system.ts';
import { replaceFile } from '../platform/replace-file.ts';
import type { StatCache } from './stat-cache.ts';
import { allocateCacheBytes, decodeCache, encodeCache, HEADER_BYTES } from './stat-cache-codec.ts';
import { TableCache } from './walk/table-cache.ts';
import { bufferBytes } from './walk/tree-table.ts';

/** Columns, name and its end. */
const TYPICAL_ROW_BYTES = bufferBytes(1) + 20;

/** The stat caches of a home, one file per workspace and engine. */
export interface StatCacheFiles {
  /** Undefined where there is none, it is damaged or of another format. */
  load(dirHash: DirHash, engine: EngineName): StatCache | undefined;
  /** About how many rows {@link load} will give, without reading them. */
  estimateRows(dirHash: DirHash, engine: EngineName): number;
  /** Not durable: a torn file is recognised and counts as none. */
  save(dirHash: DirHash, engine: EngineName, cache: StatCache): void;
}

/** Keeps in memory what was loaded from or saved to each file last, for as long as the file's header (it holds a digest) is the same. */
export function openStatCacheFiles(fs: FileSystem, directory: string): StatCacheFiles {
  const known = new Map<string, TableCache>();
  const fileOf = (dirHash: DirHash, engine: EngineName) => join(directory, `${dirHash}-${engine}.stat`);
  return {
    load(dirHash, engine) {
      const path = fileOf(dirHash, engine);
      const cache = load(path, known.get(path));
      if (cache === undefined) known.delete(path);
      else known.set(path, cache);
      return cache;
    },
    estimateRows(dirHash, engine) {
      const { size } = statSync(fileOf(dirHash, engine), { throwIfNoEntry: false }) ?? { size: 0 };
      return Math.floor(size / TYPICAL_ROW_BYTES);
    },
    save(dirHash, engine, cache) {
      if (!(cache instanceof TableCache)) return;
      const path = fileOf(dirHash, engine);
      known.delete(path);
      ensurePrivateDirectory(fs, directory);
      const bytes = encodeCache(cache);
      replaceFile(fs, path, bytes);
      known.set(path, new TableCache(cache.root, cache.table, cache.meta, bytes));
    },
  };
}

function load(path: string, known: TableCache | undefined): TableCache | undefined {
  try {
    const fd = openSync(path, 'r');
    try {
      const { size } = fstatSync(fd);
      if (known?.bytes?.length === size && hasHeaderOf(fd, known.bytes)) return known;
      const bytes = allocateCacheBytes(size);
      return readSync(fd, bytes, 0, size, 0) === size ? decodeCache(bytes) : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

function hasHeaderOf(fd: number, bytes: Buffer): boolean {
  const header = Buffer.alloc(HEADER_BYTES);
  return (
    readSync(fd, header, 0, HEADER_BYTES, 0) === HEADER_BYTES &&
    header.equals(bytes.subarray(0, HEADER_BYTES))
  );
}
