export interface ColumnTypes {
  readonly integer: string;
  readonly bytes: string;
  /** An auto-incremented primary key. */
  readonly counter: string;
  /** After the columns of a table. SQLite enforces column types only in STRICT tables. */
  readonly strict: string;
}

export type Migration = (types: ColumnTypes) => readonly string[];
