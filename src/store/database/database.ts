/** Parameter and result types. Results have no bigint: integers are numbers up to 2^53. Bytes are plain Uint8Arrays. */
export type SqlValue = string | number | bigint | null | Uint8Array;

/** A database, or one transaction of it. */
export interface Sql {
  /** SQL texts serve both dialects; where they cannot, this distinguishes them. */
  readonly dialect: 'sqlite' | 'postgres';
  /**
   * Runs one statement and returns its rows. Parameters are `$1`, `$2`… in both dialects. Throws a ServiceError
   * `store-unavailable` when the database is unavailable or full.
   */
  query<Row extends object>(text: string, values?: readonly SqlValue[]): Promise<Row[]>;
}

/** The control-plane database. Times are milliseconds (UTC), given by callers. JSON is stored as text. */
export interface Database extends Sql {
  /**
   * Runs `work` atomically. Inside use `sql` only: SQLite would deadlock on the database itself. SQLite runs one
   * transaction at a time. Postgres runs many (read committed): read-modify-write locks its rows (`FOR UPDATE`), or is
   * one conditional statement. After a deadlock `work` is run again, so its effects must be in the database only.
   */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
