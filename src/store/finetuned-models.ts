import type { Database, Sql } from './database.ts';

/** A model that was fine-tuned, without its weights. */
export interface FinetunedModelRecord {
  readonly owner: string;
  /** Unique among those of its owner. */
  readonly id: string;
  readonly createdAtMs: number;
  readonly createdBy: string;
  /** The fine-tuned model it was tuned from; null when that was a pretrained one. */
  readonly baseModelId: string | null;
  readonly steps: number;
  readonly depth: number;
  readonly loss: string;
  /** The pretrained model below it. */
  readonly model: string;
  /** What the client called that: old public clients refuse an answer that names a model which they do not know. */
  readonly named: string;
  readonly freq: string;
  /** SHA-256 of the weights, hexadecimal. */
  readonly digest: string;
  /** Size of the weights. */
  readonly bytes: number;
}

export type CreatedModel = { readonly kind: 'created' } | { readonly kind: 'id-taken' } | { readonly kind: 'too-many' };

export const FINETUNED_MODELS_MAX = 50;

/** Names what owners of models are locked by, among the advisory locks of the database. */
const OWNER_LOCK = 1;

const COLUMNS = `owner, id, created_at AS "createdAtMs", created_by AS "createdBy", base_model_id AS "baseModelId",
  steps, depth, loss, model, COALESCE(named, model) AS named, freq, digest, bytes`;

export interface ModelCreation {
  /** Writes the audit event in the transaction that creates the model. */
  readonly recordEvent: (sql: Sql) => Promise<void>;
  /** Models one owner may have. */
  readonly modelsMax?: number;
}

/**
 * Keeps a model, unless its owner has one of this id, or `modelsMax` already: then nothing is changed, also when several are made at once.
 * @param weights null where they are kept elsewhere, as files beside SQLite
 */
export async function createFinetunedModel(
  database: Database,
  record: FinetunedModelRecord,
  weights: Uint8Array | null,
  { recordEvent, modelsMax = FINETUNED_MODELS_MAX }: ModelCreation,
): Promise<CreatedModel> {
  const { owner, id, createdAtMs, createdBy, baseModelId, steps, depth, loss, model, named } = record;
  const { freq, digest, bytes } = record;
  return database.transaction(async (sql) => {
    if (database.dialect === 'postgres') {
      await sql.query('SELECT pg_advisory_xact_lock($1::int, hashtext($2))', [OWNER_LOCK, owner]);
    }
    if ((await findFinetunedModel(sql, owner, id)) !== null) return { kind: 'id-taken' };
    if ((await countFinetunedModels(sql, owner)) >= modelsMax) return { kind: 'too-many' };
    await sql.query(
      `INSERT INTO finetuned_models
        (owner, id, created_at, created_by, base_model_id, steps, depth, loss, model, named, freq, digest, bytes, weights)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
      [owner, id, createdAtMs, createdBy, baseModelId, steps, depth, loss, model, named, freq, digest, bytes, weights],
    );
    await recordEvent(sql);
    return { kind: 'created' };
  });
}

/** Those of an owner, newest first. */
export function listFinetunedModels(sql: Sql, owner: string): Promise<FinetunedModelRecord[]> {
  return sql.query(`SELECT ${COLUMNS} FROM finetuned_models WHERE owner = $1 ORDER BY created_at DESC, id`, [owner]);
}

/** Those of all owners. */
export function listAllFinetunedModels(sql: Sql): Promise<FinetunedModelRecord[]> {
  return sql.query(`SELECT ${COLUMNS} FROM finetuned_models`);
}

export async function countFinetunedModels(sql: Sql, owner: string): Promise<number> {
  const rows = await sql.query<{ count: number }>('SELECT COUNT(*) AS count FROM finetuned_models WHERE owner = $1', [
    owner,
  ]);
  return rows[0].count;
}

/** null where this owner has none of this id, whoever else has. */
export async function findFinetunedModel(sql: Sql, owner: string, id: string): Promise<FinetunedModelRecord | null> {
  const rows = await sql.query<FinetunedModelRecord>(
    `SELECT ${COLUMNS} FROM finetuned_models WHERE owner = $1 AND id = $2`,
    [owner, id],
  );
  return rows[0] ?? null;
}

/** Those of this id, of whatever owner: the operator names models without one. */
export function findFinetunedModels(sql: Sql, id: string): Promise<FinetunedModelRecord[]> {
  return sql.query(`SELECT ${COLUMNS} FROM finetuned_models WHERE id = $1 ORDER BY owner`, [id]);
}

/** The weights in the database; null where the model is not there, or its weights are kept elsewhere. */
export async function readFinetunedWeights(sql: Sql, owner: string, id: string): Promise<Uint8Array | null> {
  const rows = await sql.query<{ weights: Uint8Array | null }>(
    'SELECT weights FROM finetuned_models WHERE owner = $1 AND id = $2',
    [owner, id],
  );
  return rows[0]?.weights ?? null;
}

/** Whether there was one to delete. Models that were tuned from it stay as they are. */
export async function deleteFinetunedModel(sql: Sql, owner: string, id: string): Promise<boolean> {
  const rows = await sql.query('DELETE FROM finetuned_models WHERE owner = $1 AND id = $2 RETURNING id', [owner, id]);
  return rows.length > 0;
}
