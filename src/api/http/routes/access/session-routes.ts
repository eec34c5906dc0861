import type { FastifyRequest } from 'fastify';
import { type ConsoleSession, endSessions, listSessions } from '../../../../store/keys/console-sessions.ts';
import { hasRole } from '../../../../store/keys/key-role.ts';
import { audit } from '../../../accounts/audit-log.ts';
import { HttpProblem } from '../../../wire/problem.ts';
import { described } from '../../../wire/schema/answer-schemas.ts';
import { ById } from '../../../wire/schema/query-fields.ts';
import { Sessions, SessionsEnded, SessionsQuery } from '../../../wire/schema/session-schema.ts';
import type { App, AppServices } from '../../exchange/app-services.ts';
import { requestSessionId } from '../../exchange/console-session.ts';
import { callerOf } from '../../exchange/require-key.ts';

const ENDED_OF_ALL = '*';

/** Sessions of the console: those of the key, and of all keys for admins. */
export function addSessionRoutes(app: App, services: AppServices): void {
  const { store, nowMs } = services;
  app.get('/v1/sessions', described(Sessions, { querystring: SessionsQuery }, 403), async (request) => {
    const current = requestSessionId(request);
    const sessions = await listSessions(store, { keyId: keyOfScope(request, request.query.of), nowMs: nowMs() });
    return { sessions: sessions.map((session) => shownSession(session, current)) };
  });
  app.delete('/v1/sessions', described(SessionsEnded, { querystring: SessionsQuery }, 403), async (request) => ({
    ended: await ended(services, request, { keyId: keyOfScope(request, request.query.of) }),
  }));
  app.delete('/v1/sessions/:id', described(SessionsEnded, { params: ById }, 404), async (request) => {
    const { key } = callerOf(request);
    const keyId = hasRole(key.role, 'admin') ? null : key.id;
    const count = await ended(services, request, { keyId, id: request.params.id });
    if (count === 0) throw new HttpProblem(404, 'There is no such session');
    return { ended: count };
  });
}

/** The key whose sessions are meant; null: of all keys. Throws an HttpProblem 403 where that needs an admin. */
function keyOfScope(request: FastifyRequest, of: string | undefined): string | null {
  const { key } = callerOf(request);
  if (of !== 'all') return key.id;
  if (hasRole(key.role, 'admin')) return null;
  throw new HttpProblem(403, `Sessions of all keys need a key with the role admin; this key has the role ${key.role}`);
}

async function ended(
  { store, keys, logger, nowMs }: AppServices,
  request: FastifyRequest,
  selection: { readonly keyId: string | null; readonly id?: string },
): Promise<number> {
  const actor = callerOf(request);
  const count = await store.transaction(async (sql) => {
    const sessions = await endSessions(sql, selection);
    if (sessions === 0) return 0;
    const subject = selection.id ?? selection.keyId ?? ENDED_OF_ALL;
    const event = { happenedAtMs: nowMs(), action: 'sessions-ended', subject, detail: { sessions } } as const;
    await audit(sql, logger, { actor, event });
    return sessions;
  });
  keys.sessionsChanged();
  return count;
}

function shownSession({ id, keyId, keyName, begunAtMs, usedAtMs, endsAtMs }: ConsoleSession, current: string | null) {
  return {
    id,
    key_id: keyId,
    key_name: keyName,
    begun_at: new Date(begunAtMs).toISOString(),
    used_at: new Date(usedAtMs).toISOString(),
    ends_at: new Date(endsAtMs).toISOString(),
    current: id === current,
  };
}
