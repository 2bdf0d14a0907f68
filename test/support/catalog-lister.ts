import { openSqliteCatalog } from '../../src/catalog/sqlite/sqlite-catalog.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createFileSystem } from '../../src/platform/node-file-system.ts';

// catalog-lister.ts PATH MS: opens the catalog, lists all checkpoints and closes it, over and over for MS, and prints how many each list had.
const [path = '', ms = ''] = process.argv.slice(2);
const counts: number[] = [];
for (const end = performance.now() + Number(ms); performance.now() < end; ) {
  using catalog = openSqliteCatalog({ path, fs: createFileSystem(), clock: systemClock });
  counts.push(catalog.checkpoints().length);
}
process.stdout.write(JSON.stringify(counts));
