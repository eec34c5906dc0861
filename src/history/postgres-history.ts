import type { Database, Sql } from '../store/database/database.ts';
import type {
  ColumnType,
  ColumnValues,
  HistoryDatabase,
  HistoryValue,
  HistoryWritingSql,
} from './sql/history-database.ts';

/** Advisory lock of writers: replicas append in turns. */
const WRITER_LOCK = 7_433_931;

/** A history in Postgres, which replicas share. */
export function postgresHistory(database: Database): HistoryDatabase {
  return {
    dialect: 'postgres',
    read: (work) =>
      database.transaction(async (sql) => {
        await sql.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
        return work(new PostgresSql(sql));
      }),
    write: (work) =>
      database.transaction(async (sql) => {
        await sql.query('SELECT pg_advisory_xact_lock($1)', [WRITER_LOCK]);
        return work(new PostgresSql(sql));
      }),
    async bytes() {
      const [{ bytes }] = await database.query<{ bytes: number }>(
        `SELECT COALESCE(SUM(pg_total_relation_size(oid)), 0) AS bytes FROM pg_class
          WHERE relkind = 'r' AND relname LIKE 'history\\_%' AND relnamespace = current_schema()::regnamespace`,
      );
      return bytes;
    },
    // Postgres does by itself; a dropped part is given back at once.
    reclaim: async () => true,
    close: () => database.close(),
  };
}

class PostgresSql implements HistoryWritingSql {
  readonly dialect = 'postgres';
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  query<Row extends object>(text: string, values: readonly HistoryValue[] = []): Promise<Row[]> {
    return this.#sql.query<Row>(text, values);
  }

  async insert(table: string, columns: readonly ColumnValues[]): Promise<void> {
    const names = columns.map(({ name }) => name).join(', ');
    const lists = columns.map(({ type }, i) => `$${i + 1}::${type}[]`).join(', ');
    await this.#sql.query(`INSERT INTO ${table} (${names}) SELECT * FROM unnest(${lists})`, columns.map(arrayText));
  }
}

/** An array as Postgres writes it. */
function arrayText({ type, values }: ColumnValues): string {
  return `{${values.map((value) => itemText(type, value)).join(',')}}`;
}

function itemText(type: ColumnType, value: HistoryValue): string {
  if (value === null) return 'NULL';
  return type === 'text' ? `"${String(value).replaceAll(/["\\]/g, '\\$&')}"` : String(value);
}
