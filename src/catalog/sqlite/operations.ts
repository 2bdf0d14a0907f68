import { WaymarkError } from '../../domain/errors.ts';
import type { CheckpointId, DirHash, OperationId, PlanId, RunId, SessionId } from '../../domain/ids.ts';
import type { Operation, OperationKind, OperationStatus, PathChange } from '../../domain/operation.ts';
import type { Database, SqlRow } from '../../platform/sqlite.ts';
import type { Catalog } from '../catalog.ts';
import { bytesOf, numberOf, textOf, textOrNull, toSqlText } from './columns.ts';
import { decodeChanges, encodeChanges } from './path-changes.ts';

type OperationFilter = NonNullable<Parameters<Catalog['operations']>[0]>;
type OperationEnd = Parameters<Catalog['finishOperation']>[1];

/** The log of operations, in the order in which they were opened. */
export function operationTable(database: Database) {
  return {
    openOperation(operation: Operation): void {
      database.transaction('open operation', () => {
        database.run(
          `INSERT INTO operation (operation_id, kind, dir_hash, session_id, run_id, plan_id, started_at, finished_at, status,
             before_checkpoint, after_checkpoint, takes_back, description, changed_count, skipped_count)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          operation.id,
          operation.kind,
          operation.dirHash,
          operation.sessionId,
          operation.runId,
          operation.planId,
          operation.startedAt,
          operation.finishedAt,
          operation.status,
          operation.before,
          operation.after,
          operation.takesBack,
          toSqlText(operation.description),
          operation.changedCount,
          operation.skippedCount,
        );
      });
    },

    finishOperation(id: OperationId, end: OperationEnd, changes?: readonly PathChange[]): void {
      const packed = changes && encodeChanges(changes);
      database.transaction('finish operation', () => {
        const changed = database.run(
          `UPDATE operation SET status = ?, finished_at = ?, before_checkpoint = ?, after_checkpoint = ?, changed_count = ?, skipped_count = ?
           WHERE operation_id = ?`,
          end.status,
          end.finishedAt,
          end.before,
          end.after,
          end.changedCount,
          end.skippedCount,
          id,
        );
        if (changed === 0) throw new WaymarkError('OPERATION_NOT_FOUND', `No operation ${id}`);
        if (packed) {
          database.run(
            'INSERT INTO operation_changes VALUES (?, ?) ON CONFLICT DO UPDATE SET changes = excluded.changes',
            id,
            packed,
          );
        }
      });
    },

    operation(id: OperationId): Operation | undefined {
      const row = database.get('SELECT * FROM operation WHERE operation_id = ?', id);
      return row && operationOf(row);
    },

    operations(filter: OperationFilter = {}): readonly Operation[] {
      const conditions = [
        ['dir_hash = ?', filter.dirHash],
        ['session_id = ?', filter.sessionId],
        ['run_id = ?', filter.runId],
      ] as const;
      const given = conditions.filter(([, value]) => value !== undefined);
      const where = ['true', ...given.map(([condition]) => condition)].join(' AND ');
      const rows = database.all(
        `SELECT * FROM operation WHERE ${where} ORDER BY position DESC LIMIT ?`,
        ...given.map(([, value]) => value as string),
        filter.limit ?? -1,
      );
      return rows.map(operationOf);
    },

    changes(id: OperationId): readonly PathChange[] | undefined {
      const row = database.get('SELECT changes FROM operation_changes WHERE operation_id = ?', id);
      return row && decodeChanges(bytesOf(row, 'changes'));
    },
  };
}

function operationOf(row: SqlRow): Operation {
  return {
    id: textOf(row, 'operation_id') as OperationId,
    kind: textOf(row, 'kind') as OperationKind,
    dirHash: textOf(row, 'dir_hash') as DirHash,
    sessionId: textOrNull(row, 'session_id') as SessionId | null,
    runId: textOrNull(row, 'run_id') as RunId | null,
    planId: textOrNull(row, 'plan_id') as PlanId | null,
    startedAt: textOf(row, 'started_at'),
    finishedAt: textOrNull(row, 'finished_at'),
    status: textOf(row, 'status') as OperationStatus,
    before: textOrNull(row, 'before_checkpoint') as CheckpointId | null,
    after: textOrNull(row, 'after_checkpoint') as CheckpointId | null,
    takesBack: textOrNull(row, 'takes_back') as OperationId | null,
    description: textOf(row, 'description'),
    changedCount: numberOf(row, 'changed_count'),
    skippedCount: numberOf(row, 'skipped_count'),
  };
}
