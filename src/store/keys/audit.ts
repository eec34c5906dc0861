import type { Sql } from '../database/database.ts';

export type AuditAction =
  | 'key-created'
  | 'key-revoked'
  | 'key-credited'
  | 'key-role-changed'
  | 'signed-in'
  | 'sessions-ended'
  | 'model-created'
  | 'model-deleted'
  | 'job-submitted'
  | 'job-cancelled'
  | 'detectors-saved';

/** An audit event. It never contains secrets. */
export interface AuditEntry {
  readonly happenedAtMs: number;
  /** Id of a key, `operator` for the command line, or `provider` for a sign-in elsewhere. */
  readonly actor: string;
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

export interface NumberedAuditEntry extends AuditEntry {
  /** Increases with every event. */
  readonly number: number;
}

type AuditRow = NumberedAuditEntry & { readonly detail: string | null; readonly requestId: string | null };

const COLUMNS = `number, happened_at AS "happenedAtMs", actor, owner, action, subject, detail,
  request_id AS "requestId"`;

interface AuditSelection {
  readonly before: number;
  readonly size: number;
  /** null: any. */
  readonly subject: string | null;
  readonly actor: string | null;
}

/** A page of events, newest first, and `before` of the next page; null on the last. */
export async function pageAudit(
  sql: Sql,
  { before, size, subject, actor }: AuditSelection,
): Promise<{ readonly entries: readonly NumberedAuditEntry[]; readonly next: number | null }> {
  const rows = await sql.query<AuditRow>(
    `SELECT ${COLUMNS} FROM audit_log WHERE number < $1
      AND (CAST($2 AS TEXT) IS NULL OR subject = $2) AND (CAST($3 AS TEXT) IS NULL OR actor = $3)
      ORDER BY number DESC LIMIT $4`,
    [before, subject, actor, size + 1],
  );
  const entries = rows.slice(0, size).map(entryOf);
  return { entries, next: rows.length > size ? entries[size - 1].number : null };
}

function entryOf({ requestId, detail, ...entry }: AuditRow): NumberedAuditEntry {
  return {
    ...entry,
    detail: detail === null ? null : JSON.parse(detail),
    ...(requestId === null ? {} : { requestId }),
  };
}
