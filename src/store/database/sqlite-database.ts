import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../ops/service-error.ts';
import type { Database, Sql, SqlValue } from './database.ts';

interface SqliteLimits {
  /** Time to wait for a lock of another process. */
  readonly busyMsMax: number;
}

const LIMITS: SqliteLimits = { busyMsMax: 5_000 };
const BUSY_PAUSE_MS = 5;
/** Prepared statements that are kept. Texts are constants of the code; beyond this they are prepared again. */
const STATEMENTS_MAX = 500;
export const IN_MEMORY = ':memory:';

/** The file holds key digests and models: readable by its owner only. */
const OWNER_ONLY = 0o600;

const BUSY = 5;
const LOCKED = 6;
const REASONS: Readonly<Record<number, string>> = {
  [BUSY]: 'another process has held it for too long',
  [LOCKED]: 'another process has held it for too long',
  8: 'it cannot be written',
  10: 'the disk failed to read or write',
  11: 'it is damaged; restore a copy',
  13: 'the disk is full',
  14: 'it cannot be opened',
  26: 'it is no database; restore a copy',
};

/**
 * A SQLite database with a write-ahead log. A process crash loses nothing. A power failure may lose the last
 * transactions, never a part of one. Throws a ServiceError `configuration` when the file cannot be opened.
 */
export async function openSqlite(path: string, { busyMsMax }: SqliteLimits = LIMITS): Promise<Database> {
  try {
    // Opening a pipe waits for its writer.
    if (existsSync(path) && !statSync(path).isFile()) throw new Error('it is no file');
    if (path !== IN_MEMORY) closeSync(openSync(path, 'a', OWNER_ONLY));
    const file = new DatabaseSync(path, { timeout: 0, enableForeignKeyConstraints: true });
    const retry = { path, busyMsMax };
    await retryWhileBusy(retry, () => file.exec('PRAGMA journal_mode = WAL'));
    file.exec('PRAGMA synchronous = NORMAL');
    return new SqliteDatabase(file, retry);
  } catch (error) {
    if (error instanceof ServiceError && error.retryable) throw error;
    const text =
      `${path} cannot be opened (${(error as Error).message}); ` +
      'set DATA_DIR to a folder that can be written, or STORE_URL';
    throw new ServiceError('configuration', text, { cause: error });
  }
}

interface BusyRetry extends SqliteLimits {
  /** Named in errors. */
  readonly path: string;
}

class SqliteDatabase implements Database {
  readonly dialect = 'sqlite';
  readonly #file: DatabaseSync;
  readonly #retry: BusyRetry;
  readonly #prepared = new Map<string, StatementSync>();
  /** Settles after all earlier statements. There is one connection, and a transaction owns it. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(file: DatabaseSync, retry: BusyRetry) {
    this.#file = file;
    this.#retry = retry;
  }

  query<Row extends object>(text: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return this.#inTurn(() => this.#run<Row>(text, values));
  }

  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      await this.#run('BEGIN IMMEDIATE');
      try {
        const result = await work({ dialect: this.dialect, query: (text, values) => this.#run(text, values) });
        await this.#run('COMMIT');
        return result;
      } catch (error) {
        // A full disk may have rolled back already.
        if (this.#file.isTransaction) this.#file.exec('ROLLBACK');
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#file.isOpen) this.#file.close();
    });
  }

  #run<Row extends object>(text: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return retryWhileBusy(this.#retry, () => {
      const named = values.map((value, i) => [`$${i + 1}`, Number.isInteger(value) ? BigInt(value as number) : value]);
      const rows = this.#statement(text).all(Object.fromEntries(named));
      return rows.map((row) => ({ ...row }) as Row);
    });
  }

  #statement(text: string): StatementSync {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    const statement = this.#file.prepare(text);
    if (this.#prepared.size >= STATEMENTS_MAX) this.#prepared.clear();
    this.#prepared.set(text, statement);
    return statement;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

/** Retries while another process holds the lock, without blocking the event loop. */
async function retryWhileBusy<T>({ path, busyMsMax }: BusyRetry, run: () => T): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += BUSY_PAUSE_MS) {
    try {
      return run();
    } catch (error) {
      const { errcode, code } = error as { readonly errcode?: number; readonly code?: string };
      const primary = (errcode ?? 0) & 0xff;
      const reason = code === 'ERR_INVALID_STATE' ? 'it is closed' : REASONS[primary];
      if (reason === undefined) throw error;
      if ((primary === BUSY || primary === LOCKED) && waitedMs < busyMsMax) await sleep(BUSY_PAUSE_MS);
      else throw new ServiceError('store-unavailable', `${path}: ${reason}`, { retryable: true, cause: error });
    }
  }
}
