import type { Logger } from '../../ops/logger.ts';
import type { Sql } from '../../store/database/database.ts';
import type { ApiKey } from '../../store/keys/api-keys.ts';
import { type AuditAction, recordAudit } from '../../store/keys/audit.ts';

/** The key that acted, in which request. */
interface AuditActor {
  readonly key: Pick<ApiKey, 'id' | 'owner'>;
  readonly requestId: string;
}

interface AuditEvent {
  readonly happenedAtMs: number;
  readonly action: AuditAction;
  /** Id of the affected object. */
  readonly subject: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/**
 * Writes an audit event to the store and to the log.
 * @param sql the transaction of the change
 */
export async function audit(
  sql: Sql,
  logger: Logger,
  { actor: { key, requestId }, event }: { readonly actor: AuditActor; readonly event: AuditEvent },
): Promise<void> {
  const { id: actor, owner } = key;
  const { happenedAtMs, action, subject, detail = null } = event;
  await recordAudit(sql, { happenedAtMs, actor, owner, action, subject, detail, requestId });
  logger.info({ actor, owner, action, subject, detail, requestId }, 'audit');
}
