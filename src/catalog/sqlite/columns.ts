import { WaymarkError } from '../../domain/errors.ts';
import { decodeName, encodeName } from '../../domain/rel-path.ts';
import type { SqlRow, SqlValue } from '../../platform/sqlite.ts';

/** Text that may hold escaped bytes ({@link decodeName}): SQLite's text is UTF-8, so those are stored as the bytes they stand for. */
export function toSqlText(text: string): SqlValue {
  return text.isWellFormed() ? text : encodeName(text);
}

/** The text of a column, in the form {@link toSqlText} was given. */
export function textOf(row: SqlRow, column: string): string {
  const text = textOrNull(row, column);
  if (text === null) throw unreadable(column, text);
  return text;
}

export function textOrNull(row: SqlRow, column: string): string | null {
  const value = row[column];
  if (typeof value === 'string' || value === null) return value;
  if (value instanceof Uint8Array) return decodeName(value);
  throw unreadable(column, value);
}

export function numberOf(row: SqlRow, column: string): number {
  const value = row[column];
  if (typeof value === 'number') return value;
  throw unreadable(column, value);
}

export function bytesOf(row: SqlRow, column: string): Uint8Array {
  const value = row[column];
  if (value instanceof Uint8Array) return value;
  throw unreadable(column, value);
}

/** The JSON of a column; the caller knows its shape, since only the catalog writes it. */
export function jsonOf<T>(row: SqlRow, column: string): T {
  const text = textOf(row, column);
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw unreadable(column, text, cause);
  }
}

function unreadable(column: string, value: unknown, cause?: unknown): WaymarkError {
  return new WaymarkError(
    'CATALOG_CORRUPT',
    `The catalog is damaged: column ${column} holds ${String(value)}`,
    {
      hint: 'Rebuild it from the manifests: waymark doctor --rebuild-catalog',
      cause,
    },
  );
}
