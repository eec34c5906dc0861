import type { HttpConfig } from '../../config/connections.ts';
import type { Logger } from '../../ops/logger.ts';
import type { Database } from '../../store/database/database.ts';
import { ensureFirstKey, GENERATED_KEY, isUsable, makeKeyId, makeKeySecret } from '../../store/keys/api-keys.ts';

/** The secret of a new key; null if the store has a key, or one was configured. */
export async function firstKey(store: Database, { apiKey }: HttpConfig, logger: Logger): Promise<string | null> {
  const [secret, id, createdAtMs] = [makeKeySecret(), makeKeyId(), Date.now()];
  const unlimited = { expiresAtMs: null, models: null, callsPerMinute: null, callsAtOnce: null, credits: null };
  const name = apiKey === null ? GENERATED_KEY : 'TIDEWATCH_API_KEY';
  const offered = { id, owner: id, name, role: 'admin', secret, createdAtMs, ...unlimited } as const;
  const { configured, made, replaced } = await ensureFirstKey(store, apiKey, offered);
  if (replaced !== null) {
    logger.warn({ keyId: replaced, by: id }, 'the key of the earlier TIDEWATCH_API_KEY is revoked');
  }
  if (configured !== null && !isUsable(configured, createdAtMs)) {
    logger.error({ keyId: configured.id }, 'the key of TIDEWATCH_API_KEY was revoked or has expired: it is refused');
  }
  return made ? secret : null;
}
