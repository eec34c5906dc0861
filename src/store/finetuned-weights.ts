import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../service-error.ts';
import type { Database, Sql } from './database.ts';
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

/** A file that no model names is removed once it is so old: until then its model may be on its way. */
const ORPHAN_MS_MIN = 3_600_000;

/** Fine-tuned models with their weights: files of a folder beside SQLite, in the table where replicas share a Postgres. */
export class FinetunedWeights {
  readonly #database: Database;
  /** null: weights are kept in the table. */
  readonly #folder: string | null;

  constructor(database: Database, folder: string | null) {
    this.#database = database;
    this.#folder = folder;
  }

  /** Keeps a model; `record.digest` is that of the weights. Throws a ServiceError where there is no room for them. */
  async create(record: FinetunedModelRecord, weights: Uint8Array, creation: ModelCreation): Promise<CreatedModel> {
    if (this.#folder === null) return createFinetunedModel(this.#database, record, weights, creation);
    const path = this.#pathOf(this.#folder, record);
    await writeWhole(this.#folder, path, weights);
    const created = await createFinetunedModel(this.#database, record, null, creation).catch(async (error: unknown) => {
      await rm(path, { force: true });
      throw error;
    });
    if (created.kind !== 'created') await rm(path, { force: true });
    return created;
  }

  /** The weights of a model, as they were kept; throws a ServiceError `internal` where they are damaged or gone. */
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
   * Whether there was one to delete. Models that were tuned from it stay as they are.
   * @param recordEvent puts on record, in the same transaction, that it was deleted
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

  /** Removes files that a crash left behind before their model was there, or after it was gone; gives how many those were. */
  async sweep(nowMs: number): Promise<number> {
    const folder = this.#folder;
    if (folder === null) return 0;
    const names = (await readdir(folder).catch(() => [])).filter((name) => /\.(?:theta|part)$/.test(name));
    const ages = await Promise.all(names.map((name) => ageOf(join(folder, name), nowMs)));
    const old = names.filter((_, i) => ages[i] >= ORPHAN_MS_MIN).map((name) => join(folder, name));
    if (old.length === 0) return 0;
    // Asked after the folder was read: a file whose model was made since then is named.
    const named = new Set((await listAllFinetunedModels(this.#database)).map((model) => this.#pathOf(folder, model)));
    const orphans = old.filter((path) => !named.has(path));
    for (const path of orphans) await rm(path, { force: true });
    return orphans.length;
  }

  /** A model that is made anew under the same id gets a file of its own: nobody deletes the other's. */
  #pathOf(folder: string, { owner, id, createdAtMs }: FinetunedModelRecord): string {
    const name = createHash('sha256')
      .update(JSON.stringify([owner, id, createdAtMs]))
      .digest('hex')
      .slice(0, 32);
    return join(folder, `${name}.theta`);
  }
}

/** Below every age for a file that is gone. */
async function ageOf(path: string, nowMs: number): Promise<number> {
  const found = await stat(path).catch(() => null);
  return found === null ? Number.NEGATIVE_INFINITY : nowMs - found.mtimeMs;
}

/** The whole file or none, also when the machine loses power. */
async function writeWhole(folder: string, path: string, bytes: Uint8Array): Promise<void> {
  const part = join(folder, `${randomUUID()}.part`);
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(part, bytes, { flush: true });
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    const text = `the weights of a fine-tuned model cannot be written: ${(error as Error).message}`;
    throw new ServiceError('store-unavailable', text, { retryable: true, cause: error });
  }
}
