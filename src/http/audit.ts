import type { FastifyRequest } from 'fastify';
import { type AuditAction, recordAudit } from '../store/audit.ts';
import type { Sql } from '../store/database.ts';
import type { Logger } from '../telemetry/logger.ts';
import { callerOf } from './caller.ts';

/**
 * Puts on record what the caller of a request did: in the store, and in the log.
 * @param sql the transaction that does it, where there is one
 */
export async function audit(
  sql: Sql,
  logger: Logger,
  request: FastifyRequest,
  entry: {
    readonly happenedAtMs: number;
    readonly action: AuditAction;
    readonly subject: string;
    readonly detail?: Readonly<Record<string, unknown>>;
  },
): Promise<void> {
  const { id: actor, owner } = callerOf(request);
  const { happenedAtMs, action, subject, detail = null } = entry;
  await recordAudit(sql, { happenedAtMs, actor, owner, action, subject, detail, requestId: request.id });
  logger.info({ actor, owner, action, subject, detail, requestId: request.id }, 'audit');
}
