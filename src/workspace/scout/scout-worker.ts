import { parentPort } from 'node:worker_threads';
import { type CacheBytes, decodeParents, decodeTable } from '../stat-cache-codec.ts';
import { DirectoryPaths } from './parents.ts';
import { scoutChunk } from './scout-chunk.ts';
import { ScoutSheet } from './scout-sheet.ts';

/** What a scout is sent: once the rows to work on, then a job at a time. */
export type ScoutOrder =
  | { readonly kind: 'table'; readonly memory: SharedArrayBuffer }
  | {
      readonly kind: 'scout';
      /** absolute path of the workspace, with a slash at its end */
      readonly root: string;
      /** of the root */
      readonly device: number;
      readonly sheet: SharedArrayBuffer;
    };

/** Runs a scout in a worker thread, until the thread is ended. */
export function runScout(): void {
  let bytes: CacheBytes | undefined;
  parentPort?.on('message', (order: ScoutOrder) => {
    if (order.kind === 'table') bytes = Buffer.from(order.memory);
    else if (bytes !== undefined) scout(bytes, order);
  });
}

function scout(bytes: CacheBytes, order: ScoutOrder & { readonly kind: 'scout' }): void {
  const table = decodeTable(bytes);
  const parents = decodeParents(bytes);
  const ground = {
    table,
    parents,
    paths: new DirectoryPaths(table, parents, order.root),
    device: order.device,
  };
  const sheet = new ScoutSheet(table.count, order.sheet);
  for (let chunk = sheet.claim(); chunk !== undefined; chunk = sheet.claim()) {
    scoutChunk(ground, sheet, chunk);
    sheet.finish();
  }
}
