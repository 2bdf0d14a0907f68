import type { Checkpoint } from '../../domain/checkpoint.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { CheckpointId, SessionId } from '../../domain/ids.ts';
import type { Database, SqlValue } from '../../platform/sqlite.ts';
import type { CheckpointFilter } from '../catalog.ts';
import { CONTENT_COLUMNS, type CommittedRecord, checkpointOf, contentValues } from './checkpoint-row.ts';

const PERMIT = 'INSERT OR IGNORE INTO purge_permit VALUES (?)';
const FORBID = 'DELETE FROM purge_permit WHERE checkpoint_id = ?';

/** Queries and changes of committed rows of `checkpoint_metadata`. */
export function checkpointTable(database: Database) {
  return {
    checkpoint(id: CheckpointId): Checkpoint | undefined {
      const row = database.get(
        `SELECT * FROM checkpoint_metadata WHERE checkpoint_id = ? AND state = 'committed'`,
        id,
      );
      return row && checkpointOf(row);
    },

    checkpointAt(sessionId: SessionId, seq: number): Checkpoint | undefined {
      const row = database.get(
        `SELECT * FROM checkpoint_metadata WHERE session_id = ? AND seq = ? AND state = 'committed'`,
        sessionId,
        seq,
      );
      return row && checkpointOf(row);
    },

    checkpoints(filter: CheckpointFilter = {}): readonly Checkpoint[] {
      const { sql, values } = select(filter);
      return database.all(sql, ...values).map(checkpointOf);
    },

    setPinned(id: CheckpointId, pinned: boolean): void {
      database.transaction('set pinned', () => setFlag(database, 'pinned', id, pinned));
    },

    setRestorable(id: CheckpointId, restorable: boolean): void {
      database.transaction('set restorable', () => setFlag(database, 'restorable', id, restorable));
    },

    beginPurge(ids: readonly CheckpointId[]): void {
      if (ids.length === 0) return;
      database.transaction('begin purge', () => {
        for (const id of ids) database.run(PERMIT, id);
      });
    },

    isBeingPurged(id: CheckpointId): boolean {
      return database.get('SELECT 1 FROM purge_permit WHERE checkpoint_id = ?', id) !== undefined;
    },

    endPurge(ids: readonly CheckpointId[]): void {
      if (ids.length === 0) return;
      database.transaction('end purge', () => {
        for (const id of ids) database.run(FORBID, id);
      });
    },

    replacePurged(checkpoint: CommittedRecord): void {
      const { id } = checkpoint;
      database.transaction('replace purged', () => {
        const isOwnPermit = database.run(PERMIT, id) > 0;
        const changed = database.run(
          `UPDATE checkpoint_metadata SET ${CONTENT_COLUMNS.map((column) => `${column} = ?`).join(', ')}
           WHERE checkpoint_id = ? AND session_id = ? AND seq = ? AND state = 'committed'`,
          ...contentValues(checkpoint),
          id,
          checkpoint.sessionId,
          checkpoint.seq,
        );
        if (isOwnPermit) database.run(FORBID, id);
        if (changed === 0) throw noCheckpoint(id);
      });
    },

    markDeleting(
      ids: readonly CheckpointId[],
      { evenPinned = false }: { readonly evenPinned?: boolean } = {},
    ): ReadonlySet<CheckpointId> {
      if (ids.length === 0) return new Set();
      const mark = `UPDATE checkpoint_metadata SET state = 'deleting' WHERE checkpoint_id = ? AND state = 'committed' AND pinned <= ?`;
      return database.transaction(
        'mark deleting',
        () => new Set(ids.filter((id) => database.run(mark, id, evenPinned ? 1 : 0) > 0)),
      );
    },

    unmarkDeleting(ids: readonly CheckpointId[]): void {
      if (ids.length === 0) return;
      const unmark = `UPDATE checkpoint_metadata SET state = 'committed' WHERE checkpoint_id = ? AND state = 'deleting'`;
      database.transaction('unmark deleting', () => {
        for (const id of ids) database.run(unmark, id);
      });
    },

    removeCheckpoint(id: CheckpointId): void {
      database.transaction('remove checkpoint', () => {
        database.run('DELETE FROM checkpoint_metadata WHERE checkpoint_id = ?', id);
        database.run(FORBID, id);
      });
    },
  };
}

function select(filter: CheckpointFilter): { readonly sql: string; readonly values: readonly SqlValue[] } {
  const conditions = [
    ['dir_hash = ?', filter.dirHash],
    ['session_id = ?', filter.sessionId],
    ['plan_id = ?', filter.planId],
    ['run_id = ?', filter.runId],
    ['engine = ?', filter.engine],
  ] as const;
  const given = conditions.filter(([, value]) => value !== undefined);
  const where = ["state = 'committed'", ...given.map(([condition]) => condition)].join(' AND ');
  return {
    sql: `SELECT * FROM checkpoint_metadata WHERE ${where} ORDER BY order_time DESC, session_id DESC, seq DESC LIMIT ?`,
    values: [...given.map(([, value]) => value as string), filter.limit ?? -1],
  };
}

function setFlag(
  database: Database,
  column: 'pinned' | 'restorable',
  id: CheckpointId,
  value: boolean,
): void {
  const changed = database.run(
    `UPDATE checkpoint_metadata SET ${column} = ? WHERE checkpoint_id = ? AND state = 'committed'`,
    value ? 1 : 0,
    id,
  );
  if (changed === 0) throw noCheckpoint(id);
}

function noCheckpoint(id: CheckpointId): WaymarkError {
  return new WaymarkError('CHECKPOINT_NOT_FOUND', `No checkpoint ${id}`, {
    hint: 'See: waymark checkpoints list',
  });
}
