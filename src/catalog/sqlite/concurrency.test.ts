import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runScript } from '../../../test/support/run-script.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import type { SessionId } from '../../domain/ids.ts';
import { systemClock } from '../../platform/clock.ts';
import { createFileSystem } from '../../platform/node-file-system.ts';
import { openSqliteCatalog } from './sqlite-catalog.ts';

const support = join(import.meta.dirname, '../../../test/support');

async function numbers(name: string, ...args: readonly string[]): Promise<readonly number[]> {
  return JSON.parse(await runScript(join(support, name), ...args).output);
}

function open(path: string) {
  return openSqliteCatalog({ path, fs: createFileSystem(), clock: systemClock });
}

test('CL-01: 8 processes that take 8 checkpoints each in one session of a new catalog get 64 consecutive seqs', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'catalog.db');
  const runs = Array.from({ length: 8 }, () => numbers('catalog-writer.ts', path, 's', '8'));
  const seqs = (await Promise.all(runs)).flat();
  expect(seqs.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 64 }, (_, seq) => seq));
  using catalog = open(path);
  expect(catalog.checkpoints({ sessionId: 's' as SessionId })).toHaveLength(64);
  expect(catalog.unfinished()).toEqual([]);
});

test('CL-04: 4 writers and 4 listers at once never see a locked database, and no list goes back', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'catalog.db');
  open(path)[Symbol.dispose]();
  const writers = ['a', 'b', 'c', 'd'].map((session) => numbers('catalog-writer.ts', path, session, '40'));
  const listers = Array.from({ length: 4 }, () => numbers('catalog-lister.ts', path, '2500'));
  for (const counts of await Promise.all(listers)) {
    expect(counts.length).toBeGreaterThan(0);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  }
  for (const seqs of await Promise.all(writers))
    expect(seqs).toEqual(Array.from({ length: 40 }, (_, seq) => seq));
});

test('a writer that is killed at any moment leaves a catalog that opens, without a half made checkpoint', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'catalog.db');
  for (let round = 0; round < 5; round += 1) {
    const writer = runScript(join(support, 'catalog-writer.ts'), path, `s${round}`, '100000');
    await new Promise((resolve) => setTimeout(resolve, 250 + 37 * round));
    writer.process.kill('SIGKILL');
    await writer.output;
    using catalog = open(path);
    const seqs = catalog.checkpoints({ sessionId: `s${round}` as SessionId }).map(({ seq }) => seq);
    expect(seqs).toEqual(Array.from(seqs, (_, at) => seqs.length - 1 - at));
    expect(catalog.unfinished().length).toBeLessThanOrEqual(round + 1);
  }
});
