import { readFileSync } from 'node:fs';
import type { ContentHash, DirHash } from '../../src/domain/ids.ts';
import { createFileSystem } from '../../src/platform/node-file-system.ts';
import { applyRestore } from '../../src/restore/apply/apply-restore.ts';
import { readJournal } from '../../src/restore/journal/journal.ts';
import { recoverRestore } from '../../src/restore/recover/recover.ts';

/*
 * Carries out (`apply`) or recovers (`continue`, `abort`) the restore in the journal, and kills itself before its given changing call.
 * Arguments: journal directory, dir hash, directory of blobs by hash, what to do, step.
 */
const [directory, dirHash, blobs, work, step] = process.argv.slice(2) as [
  string,
  DirHash,
  string,
  string,
  string,
];
let taken = 0;
const fs = createFileSystem(() => {
  if (taken === Number(step)) process.kill(process.pid, 'SIGKILL');
  taken += 1;
});
async function* content(hash: ContentHash) {
  yield readFileSync(`${blobs}/${hash}`);
}
const journal = readJournal({ journal: directory }, dirHash);
if (journal === undefined) throw new Error('no journal');
if (work === 'apply') {
  await applyRestore({ ...journal, root: journal.workspace.path, plan: journal, content, fs });
} else await recoverRestore({ journal, mode: work === 'abort' ? 'abort' : 'continue', content, fs });
