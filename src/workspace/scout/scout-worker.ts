import { parentPort } from 'node:worker_threads';
import { type CacheBytes, decodeTable } from '../stat-cache-codec.ts';
import { rowRuns } from './row-runs.ts';
import { type Ground, scoutChunk } from './scout-chunk.ts';
import { ScoutSheet } from './scout-sheet.ts';

/** What a scout is sent: once the rows to work on, then a job at a time. */
export type ScoutOrder =
  | { readonly kind: 'table'; readonly memory: SharedArrayBuffer }
  | {
      readonly kind: 'scout';
      readonly root: string;
      readonly device: number;
      readonly sheet: SharedArrayBuffer;
    };

/** Runs a scout in a worker thread, until the thread is ended. */
export function runScout(): void {
  let known: Pick<Ground, 'table' | 'runs'> | undefined;
  parentPort?.on('message', (order: ScoutOrder) => {
    if (order.kind === 'table') {
      const table = decodeTable(Buffer.from(order.memory) as CacheBytes);
      known = { table, runs: rowRuns(table) };
    } else if (known !== undefined) {
      const { root, device } = order;
      const sheet = new ScoutSheet(known.table.count, order.sheet);
      for (let chunk = sheet.claim(); chunk !== undefined; chunk = sheet.claim()) {
        scoutChunk({ ...known, root, device }, sheet, chunk);
        sheet.finish();
      }
    }
  });
}
