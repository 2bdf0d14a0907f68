import { WaymarkError } from '../../domain/errors.ts';
import type { DirHash, SessionId } from '../../domain/ids.ts';
import { type Clock, isoTime } from '../../platform/clock.ts';
import type { Database, SqlRow } from '../../platform/sqlite.ts';
import type { SessionRecord } from '../catalog.ts';
import { textOf, textOrNull } from './columns.ts';

export function sessionTable(database: Database, clock: Clock) {
  return {
    useSession(id: SessionId): SessionRecord {
      return database.transaction('use session', () => {
        const now = isoTime(clock.now());
        const row = database.get(
          `INSERT INTO session (session_id, created_at, last_used_at, use_position)
           VALUES (?1, ?2, ?2, (SELECT coalesce(max(use_position), 0) + 1 FROM session))
           ON CONFLICT (session_id) DO UPDATE SET
             ended_at = NULL, last_used_at = excluded.last_used_at, use_position = excluded.use_position
           RETURNING *`,
          id,
          now,
        );
        const session = sessionOf(row as SqlRow);
        if (session.id !== id) {
          throw new WaymarkError(
            'VALIDATION_ERROR',
            `Session "${id}" differs only by letter case from "${session.id}"`,
            { hint: `Use "${session.id}", or another name` },
          );
        }
        return session;
      });
    },

    endSession(id: SessionId): void {
      database.transaction('end session', () => {
        const changed = database.run(
          'UPDATE session SET ended_at = ? WHERE session_id = ? COLLATE BINARY',
          isoTime(clock.now()),
          id,
        );
        if (changed === 0) throw new WaymarkError('SESSION_NOT_FOUND', `No session "${id}"`);
      });
    },

    session(id: SessionId): SessionRecord | undefined {
      const row = database.get('SELECT * FROM session WHERE session_id = ?', id);
      const session = row && sessionOf(row);
      return session?.id === id ? session : undefined;
    },

    sessions(dirHash?: DirHash): readonly SessionRecord[] {
      const rows =
        dirHash === undefined
          ? database.all('SELECT * FROM session ORDER BY use_position DESC')
          : database.all(
              `SELECT * FROM session WHERE session_id IN
                 (SELECT session_id FROM checkpoint_metadata WHERE dir_hash = ? AND state = 'committed')
               ORDER BY use_position DESC`,
              dirHash,
            );
      return rows.map(sessionOf);
    },
  };
}

function sessionOf(row: SqlRow): SessionRecord {
  return {
    id: textOf(row, 'session_id') as SessionId,
    createdAt: textOf(row, 'created_at'),
    endedAt: textOrNull(row, 'ended_at'),
    lastUsedAt: textOf(row, 'last_used_at'),
  };
}
