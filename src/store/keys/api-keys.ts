import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Database, Sql } from '../database/database.ts';
import { cancelJobsOfKey } from '../jobs/job-cancel.ts';
import { recordAudit } from './audit.ts';
import type { KeyRole } from './key-role.ts';

const SECRET_BYTES = 32;
/** Short enough to be typed. */
const ID_BYTES = 6;
const PREFIX_LENGTH_MAX = 8;
/** A prefix reveals at most this share of a chosen secret. */
const PREFIX_SHARE = 0.25;

export function makeKeyId(): string {
  return randomBytes(ID_BYTES).toString('hex');
}

/** Generates a secret of 256 random bits. */
export function makeKeySecret(): string {
  return `tw_${randomBytes(SECRET_BYTES).toString('base64url')}`;
}

/** The stored digest of a secret. A fast digest suffices for 256 random bits. */
export function digestOf(secret: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(secret).digest());
}

/** The characters by which operators recognise a key. */
function prefixOf(secret: string): string {
  return secret.slice(0, Math.min(PREFIX_LENGTH_MAX, Math.floor(secret.length * PREFIX_SHARE)));
}

export interface KeyLimits {
  readonly models: readonly string[] | null;
  readonly callsPerMinute: number | null;
  readonly callsAtOnce: number | null;
  readonly credits: number | null;
}

/** An API key without its secret, which only its holder has. */
export interface ApiKey extends KeyLimits {
  readonly id: string;
  /** The owner of fine-tuned models and jobs: one key, or shared by several. */
  readonly owner: string;
  readonly name: string;
  readonly role: KeyRole;
  readonly prefix: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
}

export interface NewApiKey extends Omit<ApiKey, 'prefix' | 'revokedAtMs'> {
  readonly secret: string;
}

/** The audit actor of the command line. */
export const OPERATOR = 'operator';

/** Time and author of a change of a key. */
export interface OperatorAct {
  readonly nowMs: number;
  readonly actor: string;
}

const FIRST_KEY_LOCK = 7_433_929;
/** Name of the key that is generated where none is configured. Earlier releases marked it as a bootstrap key. */
export const GENERATED_KEY = 'first key';

type KeyRow = Omit<ApiKey, 'models'> & { readonly models: string | null };

const COLUMNS = `id, owner, name, role, prefix, created_at AS "createdAtMs", expires_at AS "expiresAtMs",
  revoked_at AS "revokedAtMs", models, calls_per_minute AS "callsPerMinute", calls_at_once AS "callsAtOnce", credits`;

/** True if the key is neither revoked nor expired. */
export function isUsable({ expiresAtMs, revokedAtMs }: ApiKey, nowMs: number): boolean {
  return revokedAtMs === null && (expiresAtMs === null || nowMs < expiresAtMs);
}

/** State of a key: usable, or the reason why not. */
export function keyState(key: ApiKey, nowMs: number): 'valid' | 'expired' | 'revoked' {
  if (isUsable(key, nowMs)) return 'valid';
  return key.revokedAtMs === null ? 'expired' : 'revoked';
}

/** Calls of such a key need no admission. They are counted once they are answered. */
export function isUnlimited({ credits, callsPerMinute, callsAtOnce }: KeyLimits): boolean {
  return credits === null && callsPerMinute === null && callsAtOnce === null;
}

/** Stores a key with its audit event. Only a digest and the first characters of the secret are stored. */
export async function createApiKey(database: Database, key: NewApiKey, actor: string): Promise<void> {
  await database.transaction((sql) => insertKey(sql, key, actor));
}

export async function insertKey(sql: Sql, key: NewApiKey, actor: string): Promise<void> {
  const { id, owner, name, role, secret, createdAtMs, expiresAtMs, models, callsPerMinute, callsAtOnce, credits } = key;
  const listed = models === null ? null : JSON.stringify(models);
  await sql.query(
    `INSERT INTO api_keys
      (id, owner, name, prefix, digest, created_at, expires_at, models, calls_per_minute, calls_at_once, credits, role)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      ...[id, owner, name, prefixOf(secret), digestOf(secret), createdAtMs],
      ...[expiresAtMs, listed, callsPerMinute, callsAtOnce, credits, role],
    ],
  );
  if (credits !== null) await insertGrant(sql, { keyId: id, tokens: credits, nowMs: createdAtMs });
  const detail = { name, role, expiresAtMs, models, callsPerMinute, callsAtOnce, credits };
  await recordAudit(sql, { happenedAtMs: createdAtMs, actor, owner, action: 'key-created', subject: id, detail });
}

/**
 * Ensures that a usable key exists. A configured secret becomes the bootstrap key, unless it is a key already, also a
 * revoked one; the earlier configured key is revoked. Without a configured secret the offered key is created when there
 * is none: a later configured secret leaves it valid. A configured key has the owner of the one before, or else of the
 * generated one. Concurrent replicas create one key.
 */
export async function ensureFirstKey(database: Database, secret: string | null, offered: NewApiKey) {
  return database.transaction(async (sql) => {
    if (database.dialect === 'postgres') await sql.query('SELECT pg_advisory_xact_lock($1)', [FIRST_KEY_LOCK]);
    if (secret !== null) {
      const found = await findApiKey(sql, secret);
      if (found !== null) return { configured: found, made: false, replaced: null };
      const earlier = await endBootstrapKey(sql, offered.createdAtMs);
      const owner = earlier?.owner ?? (await ownerOfGenerated(sql)) ?? offered.owner;
      await insertKey(sql, { ...offered, owner, secret }, OPERATOR);
      await sql.query('UPDATE api_keys SET bootstrap = 1 WHERE id = $1', [offered.id]);
      return { configured: await findApiKey(sql, secret), made: false, replaced: earlier?.id ?? null };
    }
    const [{ count }] = await sql.query<{ count: number }>('SELECT COUNT(*) AS count FROM api_keys');
    if (count === 0) await insertKey(sql, offered, OPERATOR);
    return { configured: null, made: count === 0, replaced: null };
  });
}

async function ownerOfGenerated(sql: Sql): Promise<string | null> {
  const text = 'SELECT owner FROM api_keys WHERE name = $1 AND revoked_at IS NULL ORDER BY created_at, id';
  const rows = await sql.query<Pick<KeyRow, 'owner'>>(text, [GENERATED_KEY]);
  return rows.at(0)?.owner ?? null;
}

/**
 * Revokes the bootstrap key, if there is one. There may be several of earlier releases. Its jobs continue: they belong
 * to the owner of the new one, too.
 */
async function endBootstrapKey(sql: Sql, nowMs: number): Promise<KeyRow | null> {
  const rows = await sql.query<KeyRow>(
    `SELECT ${COLUMNS} FROM api_keys WHERE bootstrap = 1 AND name <> $1 AND revoked_at IS NULL
      ORDER BY created_at, id`,
    [GENERATED_KEY],
  );
  for (const { id } of rows) await endKey(sql, id, { nowMs, actor: OPERATOR });
  return rows.at(-1) ?? null;
}

/** The key of a secret, also a revoked one; null for an unknown secret. Only digests are compared, in constant time. */
export async function findApiKey(sql: Sql, secret: string): Promise<ApiKey | null> {
  const digest = digestOf(secret);
  const text = `SELECT digest, ${COLUMNS} FROM api_keys WHERE digest = $1`;
  for (const { digest: known, ...row } of await sql.query<KeyRow & KeyDigest>(text, [digest])) {
    if (timingSafeEqual(known, digest)) return keyOf(row);
  }
  return null;
}

interface KeyDigest {
  readonly digest: Uint8Array;
}

export async function keyDigests(sql: Sql): Promise<Uint8Array[]> {
  const rows = await sql.query<KeyDigest>('SELECT digest FROM api_keys WHERE revoked_at IS NULL');
  return rows.map(({ digest }) => digest);
}

/** The key of an id, also a revoked one. */
export async function findKeyById(sql: Sql, id: string): Promise<ApiKey | null> {
  const [row] = await sql.query<KeyRow>(`SELECT ${COLUMNS} FROM api_keys WHERE id = $1`, [id]);
  return row === undefined ? null : keyOf(row);
}

/** Keys by id, prefix of an id, or prefix of a secret, as operators name them. */
export async function matchApiKeys(sql: Sql, named: string): Promise<ApiKey[]> {
  const keys = await listApiKeys(sql);
  const exact = keys.filter(({ id }) => id === named);
  return exact.length > 0 ? exact : keys.filter(({ id, prefix }) => id.startsWith(named) || prefix === named);
}

export async function listApiKeys(sql: Sql): Promise<ApiKey[]> {
  return (await sql.query<KeyRow>(`SELECT ${COLUMNS} FROM api_keys ORDER BY created_at, id`)).map(keyOf);
}

/** Jobs of a revoked key can be seen this long by other keys of its owner. */
const REVOKED_JOBS_KEPT_MS = 3_600_000;

/** Revokes a key and cancels its jobs. Returns false when it was revoked before. */
export async function revokeApiKey(database: Database, id: string, act: OperatorAct): Promise<boolean> {
  return database.transaction(async (sql) => {
    if (!(await endKey(sql, id, act))) return false;
    const [endedAtMs, expiresAtMs] = [act.nowMs, act.nowMs + REVOKED_JOBS_KEPT_MS];
    await cancelJobsOfKey(sql, id, { error: 'The key that submitted the job was revoked', endedAtMs, expiresAtMs });
    return true;
  });
}

async function endKey(sql: Sql, id: string, { nowMs, actor }: OperatorAct): Promise<boolean> {
  const rows = await sql.query<{ owner: string }>(
    'UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING owner',
    [id, nowMs],
  );
  for (const { owner } of rows) {
    await recordAudit(sql, { happenedAtMs: nowMs, actor, owner, action: 'key-revoked', subject: id, detail: null });
  }
  return rows.length > 0;
}

/** Gives a key another role. Returns false for an unknown key. */
export async function changeRole(
  database: Database,
  { id, role }: { readonly id: string; readonly role: KeyRole },
  { nowMs, actor }: OperatorAct,
): Promise<boolean> {
  return database.transaction(async (sql) => {
    const text = 'UPDATE api_keys SET role = $2 WHERE id = $1 RETURNING owner';
    const rows = await sql.query<{ owner: string }>(text, [id, role]);
    for (const { owner } of rows) {
      const entry = { happenedAtMs: nowMs, actor, owner, action: 'key-role-changed', subject: id } as const;
      await recordAudit(sql, { ...entry, detail: { role } });
    }
    return rows.length > 0;
  });
}

/**
 * Grants tokens to a key. A key without credits has limited credits afterwards. Returns the balance, null for an
 * unknown key.
 */
export async function grantCredits(
  database: Database,
  { id, tokens }: { readonly id: string; readonly tokens: number },
  { nowMs, actor }: OperatorAct,
): Promise<number | null> {
  return database.transaction(async (sql) => {
    const [row] = await sql.query<{ owner: string; credits: number }>(
      'UPDATE api_keys SET credits = COALESCE(credits, 0) + $2 WHERE id = $1 RETURNING owner, credits',
      [id, tokens],
    );
    if (row === undefined) return null;
    await insertGrant(sql, { keyId: id, tokens, nowMs });
    const entry = { happenedAtMs: nowMs, actor, owner: row.owner, action: 'key-credited', subject: id } as const;
    await recordAudit(sql, { ...entry, detail: { tokens } });
    return row.credits;
  });
}

async function insertGrant(
  sql: Sql,
  { keyId, tokens, nowMs }: { readonly keyId: string; readonly tokens: number; readonly nowMs: number },
): Promise<void> {
  await sql.query('INSERT INTO credit_grants (key_id, granted_at, tokens) VALUES ($1, $2, $3)', [keyId, nowMs, tokens]);
}

function keyOf({ models, ...key }: KeyRow): ApiKey {
  return { ...key, models: models === null ? null : (JSON.parse(models) as string[]) };
}
