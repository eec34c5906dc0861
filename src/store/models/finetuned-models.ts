import type { Sql } from '../database/database.ts';

/** A fine-tuned model without its weights. */
export interface FinetunedModelRecord {
  readonly owner: string;
  /** Unique per owner. */
  readonly id: string;
  readonly createdAtMs: number;
  readonly createdBy: string;
  /** The fine-tuned model it derives from; null for a pretrained one. */
  readonly baseModelId: string | null;
  readonly steps: number;
  readonly depth: number;
  readonly loss: string;
  readonly model: string;
  /** The name the client used for the base. Old public clients refuse answers with other names. */
  readonly named: string;
  readonly freq: string;
  /** SHA-256 of the weights, hexadecimal. */
  readonly digest: string;
  readonly bytes: number;
}

export type CreatedModel = { readonly kind: 'created' } | { readonly kind: 'id-taken' } | { readonly kind: 'too-many' };

export const FINETUNED_MODELS_MAX = 50;

const OWNER_LOCK = 1;

const COLUMNS = `owner, id, created_at AS "createdAtMs", created_by AS "createdBy", base_model_id AS "baseModelId",
  steps, depth, loss, model, COALESCE(named, model) AS named, freq, digest, bytes`;

export interface ModelCreation {
  /** Writes the audit event in the transaction that creates the model. */
  readonly recordEvent: (sql: Sql) => Promise<void>;
  readonly modelsMax?: number;
}

interface StoredCreation extends ModelCreation {
  /** null when they are stored as files next to SQLite. */
  readonly weights: Uint8Array | null;
}

/**
 * Stores a model, unless its owner has one of this id or is at `modelsMax`. Safe under concurrency.
 * @param sql a transaction
 */
export async function createFinetunedModel(
  sql: Sql,
  record: FinetunedModelRecord,
  { weights, recordEvent, modelsMax = FINETUNED_MODELS_MAX }: StoredCreation,
): Promise<CreatedModel> {
  const { owner, id, createdAtMs, createdBy, baseModelId, steps, depth, loss, model, named } = record;
  const { freq, digest, bytes } = record;
  if (sql.dialect === 'postgres') {
    await sql.query('SELECT pg_advisory_xact_lock($1::int, hashtext($2))', [OWNER_LOCK, owner]);
  }
  if ((await findFinetunedModel(sql, owner, id)) !== null) return { kind: 'id-taken' };
  if ((await countFinetunedModels(sql, owner)) >= modelsMax) return { kind: 'too-many' };
  await sql.query(
    `INSERT INTO finetuned_models
      (owner, id, created_at, created_by, base_model_id, steps, depth, loss, model, named, freq, digest, bytes,
       weights)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    [owner, id, createdAtMs, createdBy, baseModelId, steps, depth, loss, model, named, freq, digest, bytes, weights],
  );
  await recordEvent(sql);
  return { kind: 'created' };
}

/** Models of an owner, newest first. */
export function listFinetunedModels(sql: Sql, owner: string): Promise<FinetunedModelRecord[]> {
  return sql.query(`SELECT ${COLUMNS} FROM finetuned_models WHERE owner = $1 ORDER BY created_at DESC, id`, [owner]);
}

export function listAllFinetunedModels(sql: Sql): Promise<FinetunedModelRecord[]> {
  return sql.query(`SELECT ${COLUMNS} FROM finetuned_models`);
}

export async function countFinetunedModels(sql: Sql, owner: string): Promise<number> {
  const rows = await sql.query<{ count: number }>('SELECT COUNT(*) AS count FROM finetuned_models WHERE owner = $1', [
    owner,
  ]);
  return rows[0].count;
}

/** Returns null when this owner has no model of this id. */
export async function findFinetunedModel(sql: Sql, owner: string, id: string): Promise<FinetunedModelRecord | null> {
  const rows = await sql.query<FinetunedModelRecord>(
    `SELECT ${COLUMNS} FROM finetuned_models WHERE owner = $1 AND id = $2`,
    [owner, id],
  );
  return rows[0] ?? null;
}

export function findFinetunedModels(sql: Sql, id: string): Promise<FinetunedModelRecord[]> {
  return sql.query(`SELECT ${COLUMNS} FROM finetuned_models WHERE id = $1 ORDER BY owner`, [id]);
}

/** The weights in the database; null when the model does not exist or its weights are files. */
export async function readFinetunedWeights(sql: Sql, owner: string, id: string): Promise<Uint8Array | null> {
  const rows = await sql.query<{ weights: Uint8Array | null }>(
    'SELECT weights FROM finetuned_models WHERE owner = $1 AND id = $2',
    [owner, id],
  );
  return rows[0]?.weights ?? null;
}

/** Deletes a model. Returns false when there was none. Derived models remain. */
export async function deleteFinetunedModel(sql: Sql, owner: string, id: string): Promise<boolean> {
  const rows = await sql.query('DELETE FROM finetuned_models WHERE owner = $1 AND id = $2 RETURNING id', [owner, id]);
  return rows.length > 0;
}
