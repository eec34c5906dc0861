import {
  type ApiKey,
  changeRole,
  createApiKey,
  findKeyById,
  grantCredits,
  keyState,
  listApiKeys,
  makeKeyId,
  makeKeySecret,
  revokeApiKey,
} from '../../../../store/keys/api-keys.ts';
import { type NumberedAuditEntry, pageAudit } from '../../../../store/keys/audit.ts';
import { usageByDay, usageOf } from '../../../../store/ledger/usage.ts';
import { fieldProblem, HttpProblem, invalidRequest } from '../../../wire/problem.ts';
import { pageOf, pageToken } from '../../../wire/query-values.ts';
import {
  AuditEvents,
  AuditQuery,
  CreditRequest,
  KeyRecord,
  Keys,
  KeyUsageAnswer,
  KeyUsageQuery,
  NewKeyAnswer,
  type NewKeyBody,
  NewKeyRequest,
  RoleRequest,
} from '../../../wire/schema/admin-schema.ts';
import { bodyAnswers, Detail, described } from '../../../wire/schema/answer-schemas.ts';
import { ById } from '../../../wire/schema/query-fields.ts';
import type { App, AppServices } from '../../exchange/app-services.ts';
import { callerOf } from '../../exchange/require-key.ts';

const DAYS = 30;
const notFound = () => new HttpProblem(404, 'Key not found');

/** Keys, credits, usage and the audit log, for admins. */
export function addAdminRoutes(app: App, services: AppServices): void {
  addKeyRoutes(app, services);
  addKeyChanges(app, services);
  addReports(app, services);
}

function addKeyRoutes(app: App, { store, keys, models, nowMs }: AppServices): void {
  app.get('/v1/keys', described(Keys, {}, 403), async () => ({
    keys: (await listApiKeys(store)).map((key) => shown(key, nowMs())),
  }));
  app.get('/v1/keys/:id', described(KeyRecord, { params: ById }, 403, 404), async (request) =>
    shown(await keyOf(store, request.params.id), nowMs()),
  );
  app.post('/v1/keys', described(NewKeyAnswer, { body: NewKeyRequest }), async (request) => {
    const [id, secret, createdAtMs] = [makeKeyId(), makeKeySecret(), nowMs()];
    const { body } = request;
    const problems = (body.models ?? []).flatMap((name, i) => {
      const text = `there is no model ${name}; known are ${models.names.join(', ')}`;
      return models.names.includes(name) ? [] : [fieldProblem(['body', 'models', i], text)];
    });
    const expiresAtMs = expiryOf(body);
    if (expiresAtMs !== null && !(expiresAtMs > createdAtMs)) {
      problems.push(fieldProblem(['body', 'expires_at'], 'it must be a time to come, in ISO 8601 with zone'));
    }
    if (problems.length > 0) throw invalidRequest(problems);
    const key = {
      id,
      secret,
      createdAtMs,
      expiresAtMs,
      name: body.name,
      role: body.role ?? 'operator',
      owner: body.owner ?? id,
      models: body.models ?? null,
      credits: body.credits ?? null,
      callsPerMinute: body.calls_per_minute ?? null,
      callsAtOnce: body.calls_at_once ?? null,
    } as const;
    await createApiKey(store, key, callerOf(request).key.id);
    keys.changed(id);
    return { ...shown(await keyOf(store, id), createdAtMs), key: secret };
  });
}

function addKeyChanges(app: App, { store, keys, nowMs }: AppServices): void {
  const changed = async (id: string) => {
    keys.changed(id);
    return shown(await keyOf(store, id), nowMs());
  };
  const revoking = { params: ById, response: { ...bodyAnswers(KeyRecord), 404: Detail } };
  app.post('/v1/keys/:id/revoke', { schema: revoking }, async (request) => {
    const { id } = await keyOf(store, request.params.id);
    const actor = callerOf(request).key.id;
    if (id === actor) throw ownKey('revoke itself');
    await revokeApiKey(store, id, { nowMs: nowMs(), actor });
    return changed(id);
  });
  app.post('/v1/keys/:id/role', described(KeyRecord, { params: ById, body: RoleRequest }, 404), async (request) => {
    const { id } = await keyOf(store, request.params.id);
    const actor = callerOf(request).key.id;
    if (id === actor) throw ownKey('change its own role');
    await changeRole(store, { id, role: request.body.role }, { nowMs: nowMs(), actor });
    return changed(id);
  });
  app.post('/v1/keys/:id/credit', described(KeyRecord, { params: ById, body: CreditRequest }, 404), async (request) => {
    const { id } = await keyOf(store, request.params.id);
    const act = { nowMs: nowMs(), actor: callerOf(request).key.id };
    await grantCredits(store, { id, tokens: request.body.tokens }, act);
    return changed(id);
  });
}

function addReports(app: App, { store, nowMs }: AppServices): void {
  app.get(
    '/v1/keys/:id/usage',
    described(KeyUsageAnswer, { params: ById, querystring: KeyUsageQuery }, 403, 404),
    async (request) => {
      const { id } = await keyOf(store, request.params.id);
      const days = Number(request.query.days ?? DAYS);
      const usage = await usageOf(store, id, nowMs());
      return { ...usage, days: await usageByDay(store, id, { nowMs: nowMs(), days }) };
    },
  );
  app.get('/v1/audit', described(AuditEvents, { querystring: AuditQuery }, 403), async (request) => {
    const { subject = null, actor = null } = request.query;
    const { entries, next } = await pageAudit(store, { ...pageOf(request.query), subject, actor });
    return { events: entries.map(shownEvent), next_page_token: next === null ? null : pageToken(next) };
  });
}

async function keyOf(store: AppServices['store'], id: string): Promise<ApiKey> {
  const key = await findKeyById(store, id);
  if (key === null) throw notFound();
  return key;
}

/** NaN for a text that is no time with a zone. */
function expiryOf({ expires_at: text = null }: NewKeyBody): number | null {
  if (text === null) return null;
  return /T.*(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
}

/** Else the last admin could lock everybody out by a slip. */
function ownKey(what: string): HttpProblem {
  return invalidRequest([fieldProblem(['path', 'id'], `a key cannot ${what}; another admin can`)]);
}

const queryTime = (ms: number) => new Date(ms).toISOString();
const timeOrNull = (ms: number | null) => (ms === null ? null : queryTime(ms));

function shown(key: ApiKey, nowMs: number) {
  const { id, owner, name, role, prefix: begins, models, credits } = key;
  return {
    id,
    owner,
    name,
    role,
    begins,
    models,
    credits,
    state: keyState(key, nowMs),
    created_at: queryTime(key.createdAtMs),
    expires_at: timeOrNull(key.expiresAtMs),
    revoked_at: timeOrNull(key.revokedAtMs),
    calls_per_minute: key.callsPerMinute,
    calls_at_once: key.callsAtOnce,
  };
}

function shownEvent({ happenedAtMs, actor, owner, action, subject, detail, requestId }: NumberedAuditEntry) {
  return { happened_at: queryTime(happenedAtMs), actor, owner, action, subject, detail, request_id: requestId ?? null };
}
