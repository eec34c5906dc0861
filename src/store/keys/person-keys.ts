import type { Database } from '../database/database.ts';
import { type ApiKey, findKeyById, insertKey, makeKeySecret, type OperatorAct } from './api-keys.ts';
import { recordAudit } from './audit.ts';
import type { KeyRole } from './key-role.ts';

/** Advisory lock of people who sign in: the first time of one at two replicas makes one key. */
const PERSON_LOCK = 7_433_933;

/** A person whom an identity provider knows. */
export interface Person {
  /** Id of their key: the same at every sign-in. */
  readonly id: string;
  readonly name: string;
  readonly role: KeyRole;
  /** Until then the key is usable: the provider knows best whether it still should be. */
  readonly expiresAtMs: number;
}

/**
 * The key of a person, made at the first sign-in and with the role of the newest. Nobody has its secret: it works
 * through sessions alone. null: it was revoked, and stays so.
 */
export async function keyOfPerson(database: Database, person: Person, act: OperatorAct): Promise<ApiKey | null> {
  const { id, name, role, expiresAtMs } = person;
  return database.transaction(async (sql) => {
    if (database.dialect === 'postgres') await sql.query('SELECT pg_advisory_xact_lock($1)', [PERSON_LOCK]);
    const earlier = await findKeyById(sql, id);
    if (earlier !== null && earlier.revokedAtMs !== null) return null;
    if (earlier === null) {
      const unlimited = { models: null, callsPerMinute: null, callsAtOnce: null, credits: null };
      const secret = makeKeySecret();
      await insertKey(sql, { ...person, owner: id, secret, createdAtMs: act.nowMs, ...unlimited }, act.actor);
    }
    const columns = [id, name, role, expiresAtMs];
    await sql.query('UPDATE api_keys SET name = $2, role = $3, expires_at = $4 WHERE id = $1', columns);
    const entry = { happenedAtMs: act.nowMs, actor: act.actor, owner: id, action: 'signed-in', subject: id } as const;
    await recordAudit(sql, { ...entry, detail: { name, role, expiresAtMs } });
    return findKeyById(sql, id);
  });
}
