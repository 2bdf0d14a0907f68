import type { Checkpoint, EngineName } from '../../domain/checkpoint.ts';
import { WaymarkError } from '../../domain/errors.ts';
import type { CheckpointId, DirHash, SessionId } from '../../domain/ids.ts';
import type { Database } from '../../platform/sqlite.ts';
import type { Catalog, Reservation } from '../catalog.ts';
import { COMMIT_COLUMNS, type CommittedRecord, checkpointOf, commitValues } from './checkpoint-row.ts';
import { numberOf, textOf, textOrNull } from './columns.ts';

type Unfinished = ReturnType<Catalog['unfinished']>;

/** The way of a row from `creating` to `committed`. */
export function reservationTable(database: Database) {
  return {
    reserve(reservation: {
      readonly id: CheckpointId;
      readonly sessionId: SessionId;
      readonly dirHash: DirHash;
      readonly engine: EngineName;
      readonly ownerLock: string | null;
    }): Reservation {
      const { id, sessionId, dirHash, engine, ownerLock } = reservation;
      return database.transaction('reserve', () => {
        const row = database.get(
          'UPDATE session SET next_seq = next_seq + 1 WHERE session_id = ? RETURNING session_id, next_seq - 1 AS seq',
          sessionId,
        );
        if (row === undefined) throw new WaymarkError('SESSION_NOT_FOUND', `No session "${sessionId}"`);
        const seq = numberOf(row, 'seq');
        database.run(
          `INSERT INTO checkpoint_metadata (checkpoint_id, session_id, seq, state, dir_hash, engine, owner_lock)
           VALUES (?, ?, ?, 'creating', ?, ?, ?)`,
          id,
          textOf(row, 'session_id'),
          seq,
          dirHash,
          engine,
          ownerLock,
        );
        return { id, sessionId: textOf(row, 'session_id') as SessionId, seq };
      });
    },

    commit(checkpoint: CommittedRecord): Checkpoint {
      const { id, sessionId, seq } = checkpoint;
      return database.transaction('commit checkpoint', () => {
        const order = orderTime(database, checkpoint);
        const row = database.get(
          `UPDATE checkpoint_metadata
           SET state = 'committed', owner_lock = NULL, order_time = ?, ${COMMIT_COLUMNS.map((column) => `${column} = ?`).join(', ')}
           WHERE checkpoint_id = ? AND session_id = ? AND seq = ? AND dir_hash = ? AND engine = ? AND state = 'creating'
           RETURNING *`,
          order,
          ...commitValues(checkpoint),
          id,
          sessionId,
          seq,
          checkpoint.workspace.dirHash,
          checkpoint.engine,
        );
        if (row === undefined) {
          throw new WaymarkError(
            'CHECKPOINT_NOT_FOUND',
            `Checkpoint ${id} (${sessionId} ${seq}) is not being created`,
            { hint: 'Its reservation was given up; take the checkpoint again' },
          );
        }
        liftLater(database, sessionId, seq, order);
        return checkpointOf(row);
      });
    },

    abandon(id: CheckpointId): void {
      database.transaction('abandon', () => {
        database.run(`DELETE FROM checkpoint_metadata WHERE checkpoint_id = ? AND state = 'creating'`, id);
      });
    },

    unfinished(): Unfinished {
      const rows = database.all(
        `SELECT checkpoint_id, dir_hash, session_id, seq, state, engine, sandbox_ref, owner_lock
         FROM checkpoint_metadata WHERE state <> 'committed' ORDER BY checkpoint_id`,
      );
      return rows.map((row) => ({
        id: textOf(row, 'checkpoint_id') as CheckpointId,
        dirHash: textOf(row, 'dir_hash') as DirHash,
        sessionId: textOf(row, 'session_id') as SessionId,
        seq: numberOf(row, 'seq'),
        state: textOf(row, 'state') as 'creating' | 'deleting',
        engine: textOf(row, 'engine') as EngineName,
        sandboxRef: textOrNull(row, 'sandbox_ref'),
        ownerLock: textOrNull(row, 'owner_lock'),
      }));
    },

    adopt(checkpoints: readonly Checkpoint[]): void {
      if (checkpoints.length === 0) return;
      database.transaction('adopt', () => {
        for (const checkpoint of checkpoints.toSorted((a, b) => a.seq - b.seq))
          adoptOne(database, checkpoint);
      });
    },
  };
}

function adoptOne(database: Database, checkpoint: Checkpoint): void {
  const { id, sessionId, seq, createdAt } = checkpoint;
  if (database.get('SELECT 1 FROM checkpoint_metadata WHERE checkpoint_id = ?', id)) return;
  database.run(
    `INSERT INTO session (session_id, created_at, last_used_at, use_position, next_seq)
     VALUES (?1, ?2, ?2, (SELECT coalesce(max(use_position), 0) + 1 FROM session), ?3)
     ON CONFLICT (session_id) DO UPDATE SET
       created_at = min(created_at, excluded.created_at),
       last_used_at = max(last_used_at, excluded.last_used_at),
       next_seq = max(next_seq, excluded.next_seq)`,
    sessionId,
    createdAt,
    seq + 1,
  );
  const rival = database.get(
    'SELECT checkpoint_id FROM checkpoint_metadata WHERE session_id = ? AND seq = ?',
    sessionId,
    seq,
  );
  if (rival) {
    throw new WaymarkError(
      'VALIDATION_ERROR',
      `Checkpoints ${id} and ${textOf(rival, 'checkpoint_id')} both claim to be ${sessionId} ${seq}`,
    );
  }
  const order = orderTime(database, checkpoint);
  database.run(
    `INSERT INTO checkpoint_metadata
       (checkpoint_id, session_id, seq, state, dir_hash, engine, pinned, restorable, order_time, ${COMMIT_COLUMNS.join(', ')})
     VALUES (?, ?, ?, 'committed', ?, ?, ?, ?, ?, ${COMMIT_COLUMNS.map(() => '?').join(', ')})`,
    id,
    sessionId,
    seq,
    checkpoint.workspace.dirHash,
    checkpoint.engine,
    checkpoint.pinned ? 1 : 0,
    checkpoint.restorable ? 1 : 0,
    order,
    ...commitValues(checkpoint),
  );
  liftLater(database, sessionId, seq, order);
}

/** Its time, or that of an earlier seq of its session where the clock has stepped back since. */
function orderTime(database: Database, { sessionId, seq, createdAt }: CommittedRecord): string {
  const row = database.get(
    `SELECT order_time FROM checkpoint_metadata
     WHERE session_id = ? AND seq < ? AND order_time IS NOT NULL ORDER BY seq DESC LIMIT 1`,
    sessionId,
    seq,
  );
  const before = row && textOf(row, 'order_time');
  return before !== undefined && before > createdAt ? before : createdAt;
}

/** Later seqs that were committed earlier must not sort below this one. */
function liftLater(database: Database, sessionId: SessionId, seq: number, order: string): void {
  database.run(
    'UPDATE checkpoint_metadata SET order_time = ? WHERE session_id = ? AND seq > ? AND order_time < ?',
    order,
    sessionId,
    seq,
    order,
  );
}
