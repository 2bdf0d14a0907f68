import { lstatSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { OperationId } from '../../src/domain/ids.ts';
import type { RelPath } from '../../src/domain/rel-path.ts';
import type { FileEntry } from '../../src/domain/snapshot.ts';
import { applyRestore } from '../../src/restore/apply/apply-restore.ts';
import { discardDisplaced } from '../../src/restore/apply/discard-displaced.ts';
import { memoryDirectory } from '../support/memory-directory.ts';
import { unsyncedFileSystem } from '../support/restore-crash.ts';
import { runScript } from '../support/run-script.ts';
import { type Blobs, contentOf, hashOf } from '../support/snapshot-views.ts';

const MOVER = fileURLToPath(new URL('../support/restore-mover.ts', import.meta.url));
const PATH = 'f' as RelPath;

function entryOf(text: string, blobs: Blobs): FileEntry {
  const bytes = Buffer.from(text);
  const hash = hashOf(bytes);
  blobs.set(hash, bytes);
  return { kind: 'file', hash, size: bytes.length, mtimeNs: 1_000_000_000_000n, mode: 0o644 };
}

test('a file that is replaced all the time: each content is in the workspace afterwards or handed over', async () => {
  using temporary = memoryDirectory();
  const root = `${temporary.path}/w`;
  mkdirSync(root);
  mkdirSync(`${temporary.path}/kept`);
  const blobs: Blobs = new Map();
  const before = entryOf('present 00000000'.slice(0, 14), blobs);
  const after = entryOf('RESTORED', blobs);
  writeFileSync(`${root}/f`, blobs.get(before.hash) ?? '');
  utimesSync(`${root}/f`, 1000, 1000);

  const mover = runScript(MOVER, root);
  onTestFinished(() => void mover.process.kill());
  const found: string[] = [];
  const outcomes = { done: 0, changed: 0, displaced: 0 };
  const fs = unsyncedFileSystem();
  const end = performance.now() + 4000;
  for (let n = 0; performance.now() < end; n += 1) {
    // Each second round deletes: that frees the place for the mover at the worst moment.
    const wanted = n % 2 === 0 ? after : undefined;
    const action = { path: PATH, action: wanted ? 'modify' : 'delete', before, after: wanted } as const;
    const operationId = String(n).padStart(26, '0') as OperationId;
    const result = await applyRestore({
      root,
      plan: { actions: [action] },
      operationId,
      content: contentOf(blobs),
      fs,
    });
    outcomes.done += result.done.length;
    outcomes.changed += result.skips.length;
    outcomes.displaced += result.displaced.length;
    for (const { temporary: at } of result.displaced) found.push(readFileSync(`${root}/${at}`, 'utf8'));
    discardDisplaced(root, fs, result.displaced);
    if (n % 64 === 0) await setTimeout(0);
  }
  mover.process.stdin?.write('end\n');
  const published = Number(await mover.output);

  for (const name of readdirSync(`${temporary.path}/kept`)) {
    found.push(readFileSync(`${temporary.path}/kept/${name}`, 'utf8'));
  }
  for (const name of readdirSync(root)) found.push(readFileSync(`${root}/${name}`, 'utf8'));
  const have = new Set(found);
  const lost = Array.from({ length: published }, (_, n) => `mover ${String(n).padStart(8, '0')}`).filter(
    (content) => !have.has(content),
  );
  expect({ lost, published: published > 100, outcomes: outcomes.changed > 100 }).toEqual({
    lost: [],
    published: true,
    outcomes: true,
  });
  expect(readdirSync(root).filter((name) => name !== 'f' && lstatSync(`${root}/${name}`).isFile())).toEqual(
    [],
  );
});
