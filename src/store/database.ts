/** What a statement takes, and, but for bigint, what it gives: integers of a table are numbers up to 2^53, bytes are plain Uint8Arrays. */
export type SqlValue = string | number | bigint | null | Uint8Array;

/** Where statements go: a database, or one transaction of it. */
export interface Sql {
  /** One text of SQL serves both dialects; where it cannot, this tells them apart. */
  readonly dialect: 'sqlite' | 'postgres';
  /**
   * Runs one statement and gives its rows, none where it returns none. Values stand for `$1`, `$2`… in both databases.
   * Throws a ServiceError `store-unavailable` where the database cannot be asked now, or has no room left.
   */
  query<Row extends object>(text: string, values?: readonly SqlValue[]): Promise<Row[]>;
}

/** The control plane's database. Times are integers, milliseconds (UTC) that callers give; JSON is text. */
export interface Database extends Sql {
  /**
   * All of `work`, or nothing of it where it throws. Inside, ask `sql` alone: SQLite would wait for itself if the database were asked. SQLite runs one
   * transaction at a time. Postgres runs many (read committed): whoever reads to write locks what was read (`FOR UPDATE`), or writes in one
   * statement with its condition. After a deadlock `work` is run again, so that all it does must be in the database.
   */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
