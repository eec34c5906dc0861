import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '../service-error.ts';
import type { Database } from './database.ts';
import { migrate } from './migrations.ts';
import { postgresDatabase } from './postgres-database.ts';
import { openSqlite } from './sqlite-database.ts';

/** The file of a store that is SQLite. */
export const STORE_FILE = 'tidewatch.db';

/** The folder of a store that is SQLite where weights of fine-tuned models are files. */
const WEIGHTS_FOLDER = 'models';

export interface StorePlace {
  /** Folder of the file; made where it is missing. */
  readonly dataDir: string;
  /** `postgres://…`; null for SQLite in `dataDir`. */
  readonly url: string | null;
}

/**
 * The store, its tables brought up to date. Several processes may open the same one at once.
 * Throws a ServiceError: `configuration` where it cannot be used as it is, `store-unavailable` where it is out of reach.
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

/** Where weights of fine-tuned models are files; null where they are in the database, as replicas share no folder. */
export function weightsFolder({ dataDir, url }: StorePlace): string | null {
  return url === null ? join(dataDir, WEIGHTS_FOLDER) : null;
}

function openFile(dataDir: string): Promise<Database> {
  try {
    mkdirSync(dataDir, { recursive: true });
  } catch (error) {
    const text = `${dataDir} cannot be made (${(error as Error).message}); set DATA_DIR to a folder that can be written, or STORE_URL`;
    throw new ServiceError('configuration', text, { cause: error });
  }
  return openSqlite(join(dataDir, STORE_FILE));
}
