/** The file of DuckDB, in the folder of data. */
export const HISTORY_FILE = 'history.duckdb';

/** The file while the history of another Kafka cluster is kept. */
export const setAsideFile = (cluster: string) => `history-${encodeURIComponent(cluster)}.duckdb`;
const SET_ASIDE = /^history-(.+)\.duckdb$/;

/** The cluster of a history that was set aside; null for another file. */
export function clusterOfFile(name: string): string | null {
  const found = SET_ASIDE.exec(name);
  return found === null ? null : decodeURIComponent(found[1]);
}

/** Values of parameters. Rows have no bigint: integers are numbers up to 2^53. */
export type HistoryValue = string | number | null;

export type ColumnType = 'int2' | 'int4' | 'int8' | 'float4' | 'float8' | 'text';

export interface ColumnValues {
  readonly name: string;
  readonly type: ColumnType;
  readonly values: readonly HistoryValue[];
}

export interface HistorySql {
  /** Parameters are `$1`, `$2`… */
  query<Row extends object>(text: string, values?: readonly HistoryValue[]): Promise<Row[]>;
}

export interface HistoryWritingSql extends HistorySql {
  /** Inserts many rows: all columns of the table, in their order. */
  insert(table: string, columns: readonly ColumnValues[]): Promise<void>;
}

export interface HistoryDatabase {
  /** Runs reads on one snapshot. */
  read<T>(work: (sql: HistorySql) => Promise<T>): Promise<T>;
  /** Runs writes in one transaction, one after another. */
  write<T>(work: (sql: HistoryWritingSql) => Promise<T>): Promise<T>;
  bytes(): Promise<number>;
  /** Gives back what was deleted. false: later, since reads are under way. */
  reclaim(): Promise<boolean>;
  close(): Promise<void>;
}
