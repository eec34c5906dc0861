import type { ApiKey } from '../../store/api-keys.ts';
import { type AuditAction, recordAudit } from '../../store/audit.ts';
import type { Sql } from '../../store/database.ts';
import type { Logger } from '../../telemetry/logger.ts';

/** Who did it: a key, whoever held it. */
interface AuditActor {
  readonly key: Pick<ApiKey, 'id' | 'owner'>;
  readonly requestId: string;
}

export interface AuditEvent {
  readonly happenedAtMs: number;
  readonly action: AuditAction;
  /** Id of what it was done to. */
  readonly subject: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/**
 * Puts on record what a caller did: in the store, and in the log.
 * @param sql the transaction that does it
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
