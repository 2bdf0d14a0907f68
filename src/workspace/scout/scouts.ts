import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { startWorker, type WorkerThread } from '../../platform/worker.ts';
import { decodeParents } from '../stat-cache-codec.ts';
import type { TableCache } from '../walk/table-cache.ts';
import { DirectoryPaths } from './parents.ts';
import { type Ground, scoutChunk } from './scout-chunk.ts';
import { CHUNK_ROWS, ScoutSheet } from './scout-sheet.ts';
import type { ScoutOrder } from './scout-worker.ts';

/** Rows from which on a thread is worth its start: about 20 ms of looking. */
const WORTH_A_THREAD = 5000;
const MOST_THREADS = 3;
const CHUNKS_BETWEEN_PAUSES = 4;
const PATIENCE_MS = 5;

export interface ScoutRequest {
  readonly base: TableCache;
  /** absolute path of the workspace */
  readonly root: string;
  /** of the root */
  readonly device: number;
  /** Called now and then with the rows looked at; it may throw to end the scouting. */
  readonly onPause: (rows: number) => void;
}

/** Threads that look ahead of a walk, shared by all walks of a home. */
export interface Scouts extends AsyncDisposable {
  /** Starts the threads if a base of so many rows will be scouted soon: they take longer to start than to look. */
  expect(rows: number): void;
  /**
   * Finds the rows of a base whose stat is still the recorded one ({@link SCOUTED}, by row), on all cores. Every `lstat` is made after the call. Undefined
   * where the base is too small for that.
   */
  scout(request: ScoutRequest): Promise<Uint8Array | undefined>;
}

export interface ScoutsOptions {
  /** beside the caller's; default: a thread less than the machine has cores, at most {@link MOST_THREADS} */
  readonly threads?: number;
  /** rows from which on they are used */
  readonly worthFrom?: number;
}

/** Starts no thread before there is enough to look at. */
export function createScouts({
  threads = Math.min(availableParallelism() - 1, MOST_THREADS),
  worthFrom = WORTH_A_THREAD,
}: ScoutsOptions = {}): Scouts {
  let workers: readonly WorkerThread[] | undefined;
  /** the base that the threads have */
  let shown: TableCache | undefined;
  const start = (): readonly WorkerThread[] => {
    workers ??= Array.from({ length: threads }, () => startWorker('scout')).filter(
      (worker) => worker !== undefined,
    );
    return workers;
  };
  const show = (base: TableCache, memory: SharedArrayBuffer): void => {
    if (shown === base) return;
    shown = base;
    for (const worker of start()) worker.post({ kind: 'table', memory } satisfies ScoutOrder);
  };
  return {
    expect(rows) {
      if (rows >= worthFrom) start();
    },
    async scout({ base, root, device, onPause }) {
      const { table, bytes } = base;
      if (bytes === undefined || table.count < worthFrom) return undefined;
      show(base, bytes.buffer);
      const sheet = new ScoutSheet(table.count);
      const parents = decodeParents(bytes);
      const prefix = root === '/' ? root : `${root}/`;
      const ground: Ground = { table, parents, paths: new DirectoryPaths(table, parents, prefix), device };
      sheet.open();
      for (const worker of workers ?? []) {
        worker.post({ kind: 'scout', root: prefix, device, sheet: sheet.memory } satisfies ScoutOrder);
      }
      try {
        await work(ground, sheet, onPause);
        while (!sheet.wait(PATIENCE_MS) && workers?.every(({ isDead }) => !isDead)) await setImmediate();
      } finally {
        sheet.close();
      }
      return sheet.found;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all((workers ?? []).map((worker) => worker[Symbol.asyncDispose]()));
    },
  };
}

async function work(ground: Ground, sheet: ScoutSheet, onPause: (rows: number) => void): Promise<void> {
  let done = 0;
  for (let chunk = sheet.claim(); chunk !== undefined; chunk = sheet.claim()) {
    scoutChunk(ground, sheet, chunk);
    sheet.finish();
    done += 1;
    if (done % CHUNKS_BETWEEN_PAUSES !== 0) continue;
    onPause(done * CHUNK_ROWS);
    await setImmediate();
  }
}
