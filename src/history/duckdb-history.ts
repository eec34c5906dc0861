import {
  BIGINT,
  DOUBLE,
  type DuckDBConnection,
  DuckDBDataChunk,
  DuckDBInstance,
  type DuckDBType,
  FLOAT,
  INTEGER,
  SMALLINT,
  SQLNULL,
  VARCHAR,
} from '@duckdb/node-api';
import { ServiceError } from '../ops/service-error.ts';
import type {
  ColumnType,
  ColumnValues,
  HistoryDatabase,
  HistorySql,
  HistoryValue,
  HistoryWritingSql,
} from './sql/history-database.ts';

const TYPES: Readonly<Record<ColumnType, DuckDBType>> = {
  int2: SMALLINT,
  int4: INTEGER,
  int8: BIGINT,
  float4: FLOAT,
  float8: DOUBLE,
  text: VARCHAR,
};

/** Rows of one chunk: the vector size of DuckDB. */
const CHUNK_ROWS = 2_048;
/** Reads that run at once. Each uses the threads of the database. */
const READERS = 3;

interface DuckdbLimits {
  /** Memory of the database; beyond it sorting goes to disk. */
  readonly memoryMb: number;
  readonly threads?: number;
}

const THREADS = 2;

/**
 * A DuckDB database in a file. One process at a time may have it open. Throws a ServiceError: retryable
 * `store-unavailable` while another process has it, `configuration` when it cannot be opened.
 */
export async function openDuckdb(
  path: string,
  { memoryMb, threads = THREADS }: DuckdbLimits,
): Promise<HistoryDatabase> {
  const options = { threads: String(threads), memory_limit: `${memoryMb}MiB`, autoinstall_known_extensions: 'false' };
  try {
    const instance = await DuckDBInstance.create(path, options);
    const [writer, ...readers] = await Promise.all(Array.from({ length: 1 + READERS }, () => instance.connect()));
    return new DuckdbHistory(instance, writer, readers);
  } catch (error) {
    const { message } = error as Error;
    const held = /lock/i.test(message);
    throw new ServiceError(
      held ? 'store-unavailable' : 'configuration',
      held
        ? `The history ${path} is open in another process: only one keeps it (set another DATA_DIR)`
        : `The history ${path} cannot be opened (${message}): move it away to begin a new one`,
      { retryable: held, cause: error },
    );
  }
}

class ConnectionTurns {
  readonly connection: DuckDBConnection;
  waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(connection: DuckDBConnection) {
    this.connection = connection;
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    this.waiting++;
    const done = this.#last.then(work).finally(() => this.waiting--);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

class DuckdbHistory implements HistoryDatabase {
  readonly #instance: DuckDBInstance;
  readonly #writer: ConnectionTurns;
  readonly #readers: readonly ConnectionTurns[];

  constructor(instance: DuckDBInstance, writer: DuckDBConnection, readers: readonly DuckDBConnection[]) {
    this.#instance = instance;
    this.#writer = new ConnectionTurns(writer);
    this.#readers = readers.map((reader) => new ConnectionTurns(reader));
  }

  read<T>(work: (sql: HistorySql) => Promise<T>): Promise<T> {
    const reader = this.#readers.reduce((least, each) => (each.waiting < least.waiting ? each : least));
    return inTransaction(reader, work);
  }

  write<T>(work: (sql: HistoryWritingSql) => Promise<T>): Promise<T> {
    return inTransaction(this.#writer, work);
  }

  async bytes(): Promise<number> {
    const size = 'SELECT used_blocks * block_size AS bytes FROM pragma_database_size()';
    return this.read(async (sql) => (await sql.query<{ bytes: number }>(size))[0].bytes);
  }

  async reclaim(): Promise<boolean> {
    try {
      await this.#writer.run(() => this.#writer.connection.run('CHECKPOINT'));
      return true;
    } catch (error) {
      // A write counts as active until all reads have ended that began before it.
      if (/other write transactions/.test((error as Error).message)) return false;
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all(
      [this.#writer, ...this.#readers].map((each) => each.run(async () => each.connection.closeSync())),
    );
    this.#instance.closeSync();
  }
}

function inTransaction<T>(turns: ConnectionTurns, work: (sql: DuckdbSql) => Promise<T>): Promise<T> {
  return turns.run(async () => {
    const { connection } = turns;
    await connection.run('BEGIN');
    try {
      const result = await work(new DuckdbSql(connection));
      await connection.run('COMMIT');
      return result;
    } catch (error) {
      // A failed commit has ended the transaction already.
      await connection.run('ROLLBACK').catch(() => undefined);
      throw error;
    }
  });
}

class DuckdbSql implements HistoryWritingSql {
  readonly #connection: DuckDBConnection;

  constructor(connection: DuckDBConnection) {
    this.#connection = connection;
  }

  async query<Row extends object>(text: string, values: readonly HistoryValue[] = []): Promise<Row[]> {
    const given = values.map((value) => (Number.isInteger(value) ? BigInt(value as number) : value));
    const reader = await this.#connection.runAndReadAll(text, given, given.map(typeOf));
    return reader.getRowObjectsJS().map(plainRow) as Row[];
  }

  async insert(table: string, columns: readonly ColumnValues[]): Promise<void> {
    const types = columns.map(({ type }) => TYPES[type]);
    const rows = columns[0].values.length;
    const appender = await this.#connection.createAppender(table);
    for (let start = 0; start < rows; start += CHUNK_ROWS) {
      const count = Math.min(CHUNK_ROWS, rows - start);
      const chunk = DuckDBDataChunk.create(types, count);
      chunk.setColumns(columns.map((column) => chunkColumn(column, start, count)));
      appender.appendDataChunk(chunk);
    }
    appender.closeSync();
  }
}

/** The driver passes whole numbers with 128 bits, to which every row is widened: a sum takes seven times as long. */
function typeOf(value: HistoryValue | bigint): DuckDBType {
  if (value === null) return SQLNULL;
  if (typeof value === 'bigint') return BIGINT;
  return typeof value === 'number' ? DOUBLE : VARCHAR;
}

function chunkColumn({ type, values }: ColumnValues, start: number, count: number) {
  const piece = values.slice(start, start + count);
  return type === 'int8' ? piece.map((value) => (value === null ? null : BigInt(value))) : piece;
}

function plainRow(row: Readonly<Record<string, unknown>>): object {
  const plain: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) plain[name] = typeof value === 'bigint' ? Number(value) : value;
  return plain;
}
