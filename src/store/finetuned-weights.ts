import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../service-error.ts';
import type { Database } from './database.ts';
import {
  type CreatedModel,
  createFinetunedModel,
  deleteFinetunedModel,
  FINETUNED_MODELS_MAX,
  type FinetunedModelRecord,
  findFinetunedModel,
  readFinetunedWeights,
} from './finetuned-models.ts';

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
  async create(
    record: FinetunedModelRecord,
    weights: Uint8Array,
    modelsMax = FINETUNED_MODELS_MAX,
  ): Promise<CreatedModel> {
    if (this.#folder === null) return createFinetunedModel(this.#database, record, weights, modelsMax);
    const path = this.#pathOf(this.#folder, record);
    await writeWhole(this.#folder, path, weights);
    const created = await createFinetunedModel(this.#database, record, null, modelsMax).catch(
      async (error: unknown) => {
        await rm(path, { force: true });
        throw error;
      },
    );
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

  /** Whether there was one to delete. Models that were tuned from it stay as they are. */
  async delete(owner: string, id: string): Promise<boolean> {
    const record = await findFinetunedModel(this.#database, owner, id);
    if (record === null || !(await deleteFinetunedModel(this.#database, owner, id))) return false;
    if (this.#folder !== null) await rm(this.#pathOf(this.#folder, record), { force: true });
    return true;
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
