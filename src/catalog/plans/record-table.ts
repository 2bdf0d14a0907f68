import { WaymarkError } from '../../domain/errors.ts';
import type { Database, SqlRow, SqlValue } from '../../platform/sqlite.ts';

/** How one record type lies in its table: a column per field, named in snake_case. */
export interface TableShape<T> {
  readonly table: string;
  readonly fields: readonly (keyof T & string)[];
  /** stored as JSON text */
  readonly json?: readonly (keyof T & string)[];
  /** stored as 0 and 1; null stays null */
  readonly flags?: readonly (keyof T & string)[];
}

/** Plain reads and writes of one record type; `id` is the key. */
export class RecordTable<T extends object> {
  readonly #database: Database;
  readonly #shape: TableShape<T>;

  constructor(database: Database, shape: TableShape<T>) {
    this.#database = database;
    this.#shape = shape;
  }

  add(record: T): void {
    const { table, fields } = this.#shape;
    const columns = fields.map(columnName).join(', ');
    const marks = fields.map(() => '?').join(', ');
    const values = fields.map((field) => this.#toSql(field, record[field]));
    this.#database.run(`INSERT INTO ${table} (${columns}) VALUES (${marks})`, ...values);
  }

  /** Sets the given fields and returns the record as it is now. @throws WaymarkError `INTERNAL` for an unknown id */
  change(id: string, change: Partial<T>): T {
    const { table } = this.#shape;
    const fields = this.#shape.fields.filter((field) => change[field] !== undefined);
    if (fields.length > 0) {
      const assignments = fields.map((field) => `${columnName(field)} = ?`).join(', ');
      const values = fields.map((field) => this.#toSql(field, change[field]));
      this.#database.run(`UPDATE ${table} SET ${assignments} WHERE id = ?`, ...values, id);
    }
    const record = this.first('WHERE id = ?', id);
    if (record === undefined) throw new WaymarkError('INTERNAL', `No record ${id} in ${table}`);
    return record;
  }

  /** `rest` is everything after the table's name: `WHERE … ORDER BY …`. */
  select(rest: string, ...values: readonly SqlValue[]): readonly T[] {
    const rows = this.#database.all(`SELECT * FROM ${this.#shape.table} ${rest}`, ...values);
    return rows.map((row) => this.#fromSql(row));
  }

  first(rest: string, ...values: readonly SqlValue[]): T | undefined {
    return this.select(`${rest} LIMIT 1`, ...values)[0];
  }

  #toSql(field: keyof T & string, value: unknown): SqlValue {
    if (value === null || value === undefined) return null;
    if (this.#shape.json?.includes(field)) return JSON.stringify(value);
    if (this.#shape.flags?.includes(field)) return value ? 1 : 0;
    return value as SqlValue;
  }

  #fromSql(row: SqlRow): T {
    const { fields, json = [], flags = [] } = this.#shape;
    const record: Record<string, unknown> = {};
    for (const field of fields) {
      const value = row[columnName(field)] ?? null;
      if (value === null) record[field] = null;
      else if (json.includes(field)) record[field] = JSON.parse(String(value));
      else record[field] = flags.includes(field) ? value === 1 : value;
    }
    return record as T;
  }
}

function columnName(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
