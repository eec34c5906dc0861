import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../../ops/service-error.ts';
import type { Database, Sql } from '../database/database.ts';
import {
  type CreatedModel,
  createFinetunedModel,
  deleteFinetunedModel,
  type FinetunedModelRecord,
  findFinetunedModel,
  listAllFinetunedModels,
  type ModelCreation,
  readFinetunedWeights,
} from './finetuned-models.ts';

/** Models disclose the data they were tuned on: the files are readable by their owner only. */
const OWNER_ONLY = 0o600;
const OWNER_ONLY_FOLDER = 0o700;

/** Age at which a file without a model is deleted. Younger files may belong to a model being created. */
const ORPHAN_MS_MIN = 3_600_000;

/** Written weights of a model that is not stored yet. */
interface PreparedWeights {
  /**
   * Stores the model.
   * @param sql a transaction
   */
  commit(sql: Sql, creation: ModelCreation): Promise<CreatedModel>;
  /** Removes what was written, when the transaction failed or the model was refused. */
  discard(): Promise<void>;
}

/**
 * Fine-tuned models with their weights: as files next to SQLite, in the table with Postgres, whose replicas share no
 * folder.
 */
export class FinetunedWeights {
  readonly #database: Database;
  /** null: weights are stored in the table. */
  readonly #folder: string | null;

  constructor(database: Database, folder: string | null) {
    this.#database = database;
    this.#folder = folder;
  }

  /**
   * Writes the weights of a model that is to be stored; `record.digest` is their digest. Throws a ServiceError when
   * they cannot be written.
   */
  async prepare(record: FinetunedModelRecord, weights: Uint8Array): Promise<PreparedWeights> {
    const folder = this.#folder;
    if (folder === null) {
      return {
        commit: (sql, creation) => createFinetunedModel(sql, record, { ...creation, weights }),
        discard: async () => {},
      };
    }
    const path = this.#pathOf(folder, record);
    await writeWhole(folder, path, weights);
    return {
      commit: (sql, creation) => createFinetunedModel(sql, record, { ...creation, weights: null }),
      discard: () => rm(path, { force: true }),
    };
  }

  /** Reads the weights of a model. Throws a ServiceError `internal` when they are missing or damaged. */
  async read(record: FinetunedModelRecord): Promise<Uint8Array> {
    const { owner, id, digest } = record;
    const bytes =
      this.#folder === null
        ? await readFinetunedWeights(this.#database, owner, id)
        : await readFile(this.#pathOf(this.#folder, record)).catch(() => null);
    const found = bytes === null ? 'absent' : createHash('sha256').update(bytes).digest('hex');
    if (bytes !== null && found === digest) return bytes;
    throw new ServiceError('internal', `the weights of fine-tuned model ${id} are damaged: ${found}, not ${digest}`);
  }

  /**
   * Deletes a model. Returns false when there was none. Derived models remain.
   * @param recordEvent writes the audit event in the same transaction
   */
  async delete(owner: string, id: string, recordEvent: (sql: Sql) => Promise<void>): Promise<boolean> {
    const record = await this.#database.transaction(async (sql) => {
      const found = await findFinetunedModel(sql, owner, id);
      if (found === null || !(await deleteFinetunedModel(sql, owner, id))) return null;
      await recordEvent(sql);
      return found;
    });
    if (record !== null && this.#folder !== null) await rm(this.#pathOf(this.#folder, record), { force: true });
    return record !== null;
  }

  /** Deletes files without a model, as a crash leaves them. Returns their number. */
  async sweep(nowMs: number): Promise<number> {
    const folder = this.#folder;
    if (folder === null) return 0;
    const names = (await readdir(folder).catch(() => [])).filter((name) => /\.(?:theta|part)$/.test(name));
    const ages = await Promise.all(names.map((name) => ageOf(join(folder, name), nowMs)));
    const old = names.filter((_, i) => ages[i] >= ORPHAN_MS_MIN).map((name) => join(folder, name));
    if (old.length === 0) return 0;
    // Queried after reading the folder, so that models created meanwhile are known.
    const named = new Set((await listAllFinetunedModels(this.#database)).map((model) => this.#pathOf(folder, model)));
    const orphans = old.filter((path) => !named.has(path));
    for (const path of orphans) await rm(path, { force: true });
    return orphans.length;
  }

  /** The creation time is part of the name: a model recreated under its id gets a new file. */
  #pathOf(folder: string, { owner, id, createdAtMs }: FinetunedModelRecord): string {
    const name = createHash('sha256')
      .update(JSON.stringify([owner, id, createdAtMs]))
      .digest('hex')
      .slice(0, 32);
    return join(folder, `${name}.theta`);
  }
}

/** Negative infinity for a missing file. */
async function ageOf(path: string, nowMs: number): Promise<number> {
  const found = await stat(path).catch(() => null);
  return found === null ? Number.NEGATIVE_INFINITY : nowMs - found.mtimeMs;
}

/** Writes atomically, also across a power failure. */
async function writeWhole(folder: string, path: string, bytes: Uint8Array): Promise<void> {
  const part = join(folder, `${randomUUID()}.part`);
  try {
    await mkdir(folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
    await writeFile(part, bytes, { flush: true, mode: OWNER_ONLY });
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    const text = `the weights of a fine-tuned model cannot be written: ${(error as Error).message}`;
    throw new ServiceError('store-unavailable', text, { retryable: true, cause: error });
  }
}
