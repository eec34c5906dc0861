import assert from 'node:assert/strict';
import { DatabaseError, Pool, type PoolClient, type QueryResult, types } from 'pg';
import { ServiceError } from '../../ops/service-error.ts';
import type { Database, Sql, SqlValue } from './database.ts';

/** Connections per process. Further queries wait for `CONNECT_MS_MAX`. */
const CONNECTIONS_MAX = 10;
const CONNECT_MS_MAX = 20_000;
/** The server aborts a statement after this. An unresponsive server is given up a little later. */
const STATEMENT_MS_MAX = 30_000;
const RESPONSE_MS_MAX = 35_000;
/** Ends the transaction of a suspended process, and with it its locks. */
const IDLE_IN_TRANSACTION_MS_MAX = 30_000;
/**
 * Set inside each transaction: a pooler such as PgBouncer refuses them as parameters of the connection, and in its
 * transaction mode a setting of the session would reach other clients.
 */
const BEGIN = `BEGIN; SET LOCAL statement_timeout = ${STATEMENT_MS_MAX};
  SET LOCAL idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS_MAX}`;
/** Attempts of a transaction after conflicts. */
const TRIES_MAX = 10;

const CONFLICTS = ['40001', '40P01'];
/**
 * Error classes that are temporary or need an operator: connection, resources (also a full disk), shutdown, time-outs,
 * standby.
 */
const UNAVAILABLE = /^(?:08|53|57|58|55P03|25006|25P03)/;

/** `bigint` and sums are parsed as numbers: counters stay below 2^53. */
const NUMERIC_TYPES = [types.builtins.INT8, types.builtins.NUMERIC] as const;

/**
 * A Postgres database, shared by several processes. Connects lazily.
 * @param url `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, `?sslmode=verify-full` for TLS
 */
export function postgresDatabase(url: string): Database {
  return new PostgresDatabase(url);
}

class PostgresDatabase implements Database {
  readonly dialect = 'postgres';
  readonly #pool: Pool;

  constructor(url: string) {
    this.#pool = new Pool({
      connectionString: url,
      application_name: 'tidewatch',
      max: CONNECTIONS_MAX,
      connectionTimeoutMillis: CONNECT_MS_MAX,
      query_timeout: RESPONSE_MS_MAX,
      keepAlive: true,
      allowExitOnIdle: true,
      types: { getTypeParser: parserOf },
    });
    // A broken connection fails its current statement; an idle one is replaced.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  query<Row extends object>(text: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return this.#connected((client) => inTransaction(client, (sql) => sql.query<Row>(text, values)));
  }

  async transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#connected((client) => inTransaction(client, work));
      } catch (error) {
        if (tries === TRIES_MAX || !(error instanceof DatabaseError) || !CONFLICTS.includes(error.code ?? ''))
          throw error;
      }
    }
  }

  async close(): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end();
  }

  async #connected<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    let client: PoolClient;
    try {
      client = await this.#pool.connect();
    } catch (error) {
      throw failureOf(error);
    }
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      // The state of the connection is unknown, so it is discarded with its transaction.
      client.release(error instanceof ServiceError && error.code === 'store-unavailable');
      throw error;
    }
  }
}

async function inTransaction<T>(client: PoolClient, work: (sql: Sql) => Promise<T>): Promise<T> {
  await run(client, BEGIN);
  try {
    const result = await work({ dialect: 'postgres', query: (text, values) => run(client, text, values) });
    const { command } = await query(client, 'COMMIT');
    assert(command === 'COMMIT', 'a statement failed, and the transaction continued as if it had not');
    return result;
  } catch (error) {
    // If this fails the connection is lost, and the server rolls back.
    await run(client, 'ROLLBACK');
    throw error;
  }
}

async function run<Row extends object>(client: PoolClient, text: string, values?: readonly SqlValue[]): Promise<Row[]> {
  return (await query(client, text, values)).rows as Row[];
}

async function query(client: PoolClient, text: string, values: readonly SqlValue[] = []): Promise<QueryResult> {
  try {
    return await client.query(text, [...values]);
  } catch (error) {
    throw failureOf(error);
  }
}

/** Rejected statements are bugs of the caller. Everything else means that the database is unavailable. */
function failureOf(error: unknown): unknown {
  const { message } = error as Error;
  if (error instanceof DatabaseError && !UNAVAILABLE.test(error.code ?? '')) {
    if (!/^(?:28|3D)/.test(error.code ?? '')) return error;
    return new ServiceError('configuration', `STORE_URL: Postgres refuses (${message})`, { cause: error });
  }
  const reason = message === '' ? String((error as { readonly code?: string }).code) : message;
  const text = `The store (Postgres) cannot be reached: ${reason} (STORE_URL)`;
  return new ServiceError('store-unavailable', text, { retryable: true, cause: error });
}

function parserOf(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if ((NUMERIC_TYPES as readonly number[]).includes(oid)) return Number;
  const parse = types.getTypeParser(oid, format as 'text');
  if (oid !== types.builtins.BYTEA) return parse;
  return (value) => {
    const { buffer, byteOffset, byteLength } = parse(value) as unknown as Buffer;
    return new Uint8Array(buffer, byteOffset, byteLength);
  };
}
