import { type FileReading, type PlacedReading, WHOLE_FILE_BYTES } from '../../domain/draft.ts';
import type { ContentHash } from '../../domain/ids.ts';
import { parentOf, type RelPath } from '../../domain/rel-path.ts';
import { FLAG, type TreeTable } from '../walk/tree-table.ts';
import { type BatchResult, EXPECTED, EXPECTED_FIELDS, NOT_READ } from './read-batch.ts';
import { type BatchPlan, type BatchPlans, readInParallel } from './read-in-parallel.ts';

export interface ManyReader {
  /** real path of the workspace */
  readonly root: string;
  /** of the root */
  readonly device: bigint;
  readonly table: TreeTable;
  /** Reads what is not as the walk saw it any more. */
  readonly read: (path: RelPath) => FileReading;
}

const BATCH_FILES = 256;
const BATCH_BYTES = 512 * 1024;
/** Files of one directory from which on it is held open: its own proof costs three calls, and saves one a file. */
const CROWD = 16;
const PERMISSIONS = 0o7777;

/**
 * Reads many files: those that are as the walk saw them in batches, sorted by their names (the same name in many directories, or names that begin
 * alike, are mostly like contents), the others one by one behind them.
 *
 * @param rows of the paths in the table; -1 where the walk knows nothing of one
 */
export async function* readMany(
  reader: ManyReader,
  paths: readonly RelPath[],
  rows: Int32Array,
): AsyncGenerator<readonly PlacedReading[]> {
  const { table, read } = reader;
  const isUsual = (at: number): boolean =>
    (rows[at] as number) >= 0 && (table.size[rows[at] as number] as number) <= WHOLE_FILE_BYTES;
  const all = [...paths.keys()];
  const usual = sortedByName(all.filter(isUsual), (at) => table.names.at(rows[at] as number));
  const batches = new Batches(reader, paths, rows, usual);
  for await (const result of readInParallel(batches)) yield batches.readings(result);
  for (const at of all) if (!isUsual(at)) yield [{ at, reading: read(paths[at] as RelPath) }];
}

function sortedByName(places: readonly number[], nameOf: (at: number) => string): Uint32Array {
  const names = places.map(nameOf);
  const order = Uint32Array.from(places.keys());
  order.sort((a, b) => {
    const [first, second] = [names[a] as string, names[b] as string];
    return first < second ? -1 : first > second ? 1 : a - b;
  });
  return order.map((at) => places[at] as number);
}

/** Files in reading order, cut into batches that are described when they are wanted. */
class Batches implements BatchPlans {
  readonly #reader: ManyReader;
  readonly #paths: readonly RelPath[];
  readonly #rows: Int32Array;
  readonly #order: Uint32Array;
  readonly #crowded: ReadonlySet<string>;
  /** place in the order where each batch starts, and the end */
  readonly #starts: number[] = [];

  constructor(reader: ManyReader, paths: readonly RelPath[], rows: Int32Array, order: Uint32Array) {
    this.#reader = reader;
    this.#paths = paths;
    this.#rows = rows;
    this.#order = order;
    this.#crowded = crowdedDirectories(paths);
    let [files, bytes] = [BATCH_FILES, 0];
    for (const [place, at] of order.entries()) {
      const size = this.#sizeOf(at);
      if (files === BATCH_FILES || bytes + size > BATCH_BYTES) {
        this.#starts.push(place);
        [files, bytes] = [0, 0];
      }
      files += 1;
      bytes += size;
    }
    this.#starts.push(order.length);
  }

  get count(): number {
    return this.#starts.length - 1;
  }

  plan(number: number): BatchPlan {
    const { root, device, table } = this.#reader;
    const files = this.#filesOf(number);
    const heads = new Uint16Array(files.length);
    const expected = new BigInt64Array(files.length * EXPECTED_FIELDS);
    let bytes = 0;
    for (const [index, at] of files.entries()) {
      const row = this.#rows[at] as number;
      const directory = parentOf(this.#paths[at] as RelPath);
      heads[index] = this.#crowded.has(directory) ? directory.length : 0;
      const first = index * EXPECTED_FIELDS;
      expected[first + EXPECTED.ino] = table.ino[row] as bigint;
      expected[first + EXPECTED.size] = BigInt(table.size[row] as number);
      expected[first + EXPECTED.mtime] = table.mtime[row] as bigint;
      expected[first + EXPECTED.ctime] = table.ctime[row] as bigint;
      expected[first + EXPECTED.mode] = BigInt(table.mode[row] as number);
      bytes += this.#sizeOf(at);
    }
    const paths = Array.from(files, (at) => this.#paths[at]).join('\0');
    return { number, root, device, paths, heads, expected, bytes };
  }

  readings({ number, hashes, buffer }: BatchResult): readonly PlacedReading[] {
    const { table, read } = this.#reader;
    let start = 0;
    return Array.from(this.#filesOf(number), (at, index): PlacedReading => {
      const row = this.#rows[at] as number;
      const size = this.#sizeOf(at);
      const content = Buffer.from(buffer, start, size);
      start += size;
      const hash = hashes.slice(index * NOT_READ.length, (index + 1) * NOT_READ.length);
      if (hash === NOT_READ) return { at, reading: read(this.#paths[at] as RelPath) };
      table.set(row, FLAG.read);
      const mtimeNs = table.mtime[row] as bigint;
      const mode = (table.mode[row] as number) & PERMISSIONS;
      return { at, reading: { ok: true, size, mtimeNs, mode, content, hash: hash as ContentHash } };
    });
  }

  #filesOf(number: number): Uint32Array {
    return this.#order.subarray(this.#starts[number], this.#starts[number + 1]);
  }

  #sizeOf(at: number): number {
    return this.#reader.table.size[this.#rows[at] as number] as number;
  }
}

function crowdedDirectories(paths: readonly RelPath[]): ReadonlySet<string> {
  const files = new Map<string, number>();
  for (const path of paths) {
    const directory = parentOf(path);
    files.set(directory, (files.get(directory) ?? 0) + 1);
  }
  return new Set([...files].filter(([, count]) => count >= CROWD).map(([directory]) => directory));
}
