import { openSqliteCatalog } from '../../src/catalog/sqlite/sqlite-catalog.ts';
import type { CheckpointId, SessionId } from '../../src/domain/ids.ts';
import { isoTime, systemClock } from '../../src/platform/clock.ts';
import { createIds } from '../../src/platform/ids.ts';
import { createFileSystem } from '../../src/platform/node-file-system.ts';
import { SAMPLE_WORKSPACE, sampleCheckpoint } from './sample-checkpoint.ts';

// catalog-writer.ts PATH SESSION COUNT: opens the catalog, takes one checkpoint and closes it, COUNT times, and prints the seqs.
const [path = '', session = '', count = ''] = process.argv.slice(2);
const sessionId = session as SessionId;
const ids = createIds(systemClock);
const seqs: number[] = [];
for (let round = 0; round < Number(count); round += 1) {
  using catalog = openSqliteCatalog({ path, fs: createFileSystem(), clock: systemClock });
  catalog.saveWorkspace(SAMPLE_WORKSPACE);
  catalog.useSession(sessionId);
  const id = ids.ulid() as CheckpointId;
  const { dirHash } = SAMPLE_WORKSPACE;
  const { seq } = catalog.reserve({ id, sessionId, dirHash, engine: 'cas', ownerLock: null });
  const createdAt = isoTime(systemClock.now());
  seqs.push(catalog.commit(sampleCheckpoint({ id, sessionId, seq, createdAt })).seq);
}
process.stdout.write(JSON.stringify(seqs));
