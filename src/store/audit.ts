import type { Sql } from './database.ts';

export type AuditAction =
  | 'key-created'
  | 'key-revoked'
  | 'key-credited'
  | 'model-created'
  | 'model-deleted'
  | 'job-submitted'
  | 'job-cancelled';

/** An audit event. It never contains secrets. */
export interface AuditEntry {
  readonly happenedAtMs: number;
  /** Id of a key, or `operator` for the command line. */
  readonly actor: string;
  /** Owner of the subject. */
  readonly owner: string | null;
  readonly action: AuditAction;
  /** Id of the key, model or job. */
  readonly subject: string;
  readonly detail: Readonly<Record<string, unknown>> | null;
  readonly requestId?: string;
}

/** Writes an event in the transaction of the change, so that both are stored or neither. */
export async function recordAudit(sql: Sql, entry: AuditEntry): Promise<void> {
  const { happenedAtMs, actor, owner, action, subject, detail, requestId = null } = entry;
  await sql.query(
    `INSERT INTO audit_log (happened_at, actor, owner, action, subject, detail, request_id)
      VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [happenedAtMs, actor, owner, action, subject, detail === null ? null : JSON.stringify(detail), requestId],
  );
}

/** All events, oldest first. */
export async function readAudit(sql: Sql): Promise<AuditEntry[]> {
  const rows = await sql.query<AuditEntry & { readonly detail: string | null; readonly requestId: string | null }>(
    `SELECT happened_at AS "happenedAtMs", actor, owner, action, subject, detail, request_id AS "requestId"
      FROM audit_log ORDER BY number`,
  );
  return rows.map(({ requestId, detail, ...entry }) => ({
    ...entry,
    detail: detail === null ? null : JSON.parse(detail),
    ...(requestId === null ? {} : { requestId }),
  }));
}
