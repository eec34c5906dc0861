import { join } from 'node:path';
import { ServiceError } from '../../ops/service-error.ts';
import type { Database } from './database.ts';
import { makeFolder } from './make-folder.ts';
import { migrate } from './migrations.ts';
import { postgresDatabase } from './postgres-database.ts';
import { openSqlite } from './sqlite-database.ts';

export const STORE_FILE = 'tidewatch.db';

const WEIGHTS_FOLDER = 'models';

export interface StorePlace {
  /** Folder of the file; created when missing. */
  readonly dataDir: string;
  /** `postgres://…`; null for SQLite in `dataDir`. */
  readonly url: string | null;
}

/**
 * Opens and migrates the store. Several processes may open it concurrently. Throws a ServiceError: `configuration` when
 * it is unusable, `store-unavailable` when it is unreachable.
 */
export async function openDatabase({ dataDir, url }: StorePlace): Promise<Database> {
  const database = url === null ? await openFile(dataDir) : postgresDatabase(url);
  try {
    await migrate(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** The folder of weights; null when they are in the database, as Postgres replicas share no folder. */
export function weightsFolder({ dataDir, url }: StorePlace): string | null {
  return url === null ? join(dataDir, WEIGHTS_FOLDER) : null;
}

function openFile(dataDir: string): Promise<Database> {
  try {
    makeFolder(dataDir);
  } catch (error) {
    const text =
      `${dataDir} cannot be made (${(error as Error).message}); ` +
      'set DATA_DIR to a folder that can be written, or STORE_URL';
    throw new ServiceError('configuration', text, { cause: error });
  }
  return openSqlite(join(dataDir, STORE_FILE));
}
