/** How the dialects call the same. */
export interface ColumnTypes {
  readonly integer: string;
  readonly bytes: string;
  /** A primary key that counts by itself, upwards. */
  readonly counter: string;
  /** After the columns of a table: SQLite takes anything in any column unless told not to. */
  readonly strict: string;
}

/** Statements that lead from one version of the schema to the next. */
export type Migration = (types: ColumnTypes) => readonly string[];
