import type { HistorySql, HistoryValue } from './history-database.ts';

const ROWS_AT_ONCE = 200;

interface Upsert {
  readonly table: string;
  /** Rows of distinct keys: all columns of the table, in their order. */
  readonly rows: readonly (readonly HistoryValue[])[];
  readonly onConflict: string;
}

/** Inserts rows, or does what their conflict defines, hundreds a statement: one by one takes milliseconds each. */
export async function upsertRows(sql: HistorySql, { table, rows, onConflict }: Upsert): Promise<void> {
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    const some = rows.slice(start, start + ROWS_AT_ONCE);
    let mark = 0;
    const marks = some.map((row) => `(${row.map(() => `$${++mark}`).join(', ')})`);
    await sql.query(`INSERT INTO ${table} VALUES ${marks.join(', ')} ON CONFLICT ${onConflict}`, some.flat());
  }
}
