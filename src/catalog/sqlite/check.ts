import type { Database } from '../../platform/sqlite.ts';
import { damagedCatalog } from '../../platform/sqlite-error.ts';
import type { Catalog } from '../catalog.ts';

/** As many findings as fit into a message; the first ones tell enough. */
const FINDINGS = 3;

type Records = Pick<
  Catalog,
  'workspaces' | 'sessions' | 'unfinished' | 'checkpoints' | 'openRuns' | 'operations' | 'changes'
>;

/** Has SQLite look at its pages and indexes, then reads every record. @throws WaymarkError `CATALOG_CORRUPT` */
export function checkCatalog(database: Database, records: Records): void {
  const findings = database
    .all(`PRAGMA integrity_check(${FINDINGS})`)
    .flatMap((row) => Object.values(row))
    .map(String)
    .filter((finding) => finding !== 'ok');
  if (findings.length > 0) throw damagedCatalog(database.path, findings.join('; ').replaceAll('\n', ' '));
  records.workspaces();
  records.sessions();
  records.unfinished();
  records.checkpoints();
  records.openRuns();
  for (const { id } of records.operations()) records.changes(id);
}
