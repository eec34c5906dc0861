import { idConditions } from '../../records/series/id-expression.ts';

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

/** Conditions of a statement with their parameters, numbered in order. */
export class Conditions {
  readonly values: HistoryValue[] = [];
  readonly #texts: string[] = [];

  mark(value: HistoryValue): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  add(text: string): this {
    this.#texts.push(text);
    return this;
  }

  /** `column = value`, unless the value is null. */
  equals(column: string, value: HistoryValue): this {
    return value === null ? this : this.add(`${column} = ${this.mark(value)}`);
  }

  /** The column is the id of a series that a glob or matchers choose. Throws a RangeError as `idConditions`. */
  chosen(column: string, pattern: string | null): this {
    return pattern === null ? this : this.add(this.choice(column, pattern));
  }

  /** As a text, which may be a part of another condition. */
  choice(column: string, pattern: string): string {
    const all = idConditions(pattern).map((any) =>
      any.map(({ expression, wanted }) => {
        const matches = `regexp_matches(${column}, ${this.mark(expression)}, 's')`;
        return wanted ? matches : `NOT ${matches}`;
      }),
    );
    return `(${all.map((any) => `(${any.join(' OR ')})`).join(' AND ')})`;
  }

  get where(): string {
    return this.#texts.length === 0 ? '' : `WHERE ${this.#texts.join(' AND ')}`;
  }
}
