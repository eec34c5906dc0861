import type { FastifyRequest } from 'fastify';
import type { ApiKey } from '../../../store/keys/api-keys.ts';
import { hasRole, type KeyRole } from '../../../store/keys/key-role.ts';
import type { Caller } from '../../accounts/caller.ts';
import { OpenCounts } from '../../accounts/open-counts.ts';
import { HttpProblem, invalidKey, tooManyCalls } from '../../wire/problem.ts';
import type { App, AppServices } from './app-services.ts';
import { sessionKey } from './console-session.ts';
import { rulesOf } from './route-rules.ts';

const callers = new WeakMap<FastifyRequest, Caller>();

type KeyServices = Pick<AppServices, 'keys' | 'store' | 'nowMs' | 'refusedCalls'>;

/** Until a request of a key that has too many open has a chance again. */
const OPEN_RETRY_MS = 1_000;

/**
 * Holds requests to the rules of their route, before any part of the body is read: its key with the role that the route
 * needs (the key itself, or a session of the console), and what the key may do at once and in a minute.
 */
export function requireKey(app: App, services: KeyServices): void {
  const { refusedCalls } = services;
  const open = new OpenCounts();
  app.addHook('onRequest', async (request, reply) => {
    const rules = rulesOf(request);
    if (rules === null || rules.role === null) return;
    const key = await keyOfRequest(request, services);
    if (key === null) throw invalidKey(request.id);
    if (!hasRole(key.role, rules.role)) throw roleNeeded(rules.role, key.role);
    callers.set(request, { key, requestId: request.id });
    const refusal = rules.perMinute === 'of-key' ? refusedCalls.refusal(key) : null;
    if (refusal !== null) throw refusal;
    if (typeof rules.atOnce !== 'number') return;
    const place = `${key.id} ${request.method} ${request.routeOptions.url}`;
    if (open.of(place) >= rules.atOnce) {
      throw tooManyCalls(`This key may send ${rules.atOnce} such requests at once`, OPEN_RETRY_MS);
    }
    open.add(place);
    reply.raw.once('close', () => open.remove(place));
  });
  app.addHook('onSend', async (request, reply) => {
    const isAnswer = reply.statusCode >= 200 && reply.statusCode < 300;
    const isPriced = rulesOf(request)?.price === 'tokens';
    if (isAnswer && isPriced && !admitted.has(request)) throw new Error('an answer that costs tokens was not charged');
  });
  app.addHook('onResponse', async (request, reply) => {
    const caller = callers.get(request);
    const refused = reply.statusCode >= 400 && reply.statusCode < 500 && !admitted.has(request);
    const counts = rulesOf(request)?.perMinute === 'of-key';
    if (caller !== undefined && refused && counts) await refusedCalls.count(caller.key);
  });
}

const admitted = new WeakSet<FastifyRequest>();

/** Notes that a request is an admitted call, or repeats one: it is counted and charged already. */
export function noteAdmitted(request: FastifyRequest): void {
  admitted.add(request);
}

/**
 * Whether the key or session of a request may still have its answer, which is being sent: it is usable, and has the
 * role that it began with. Rejects when the store is unavailable.
 */
export async function isStillAdmitted(request: FastifyRequest, services: Pick<KeyServices, 'keys'>): Promise<boolean> {
  const { key } = callerOf(request);
  const now = await keyOfRequest(request, services);
  return now?.id === key.id && now.role === key.role;
}

function queryKeyOf(request: FastifyRequest): string | null {
  const { p } = request.query as { readonly p?: unknown };
  return rulesOf(request)?.queryKey === true && typeof p === 'string' && p !== '' ? p : null;
}

function keyOfRequest(request: FastifyRequest, services: Pick<KeyServices, 'keys'>): Promise<ApiKey | null> {
  const token = tokenOf(request.headers.authorization) ?? queryKeyOf(request);
  return token === null ? sessionKey(request, services) : services.keys.find(token, request.ip);
}

export function roleNeeded(needed: KeyRole, role: KeyRole): HttpProblem {
  return new HttpProblem(403, `This needs a key with the role ${needed}; this key has the role ${role}`);
}

export function callerOf(request: FastifyRequest): Caller {
  return callers.get(request)!;
}

/**
 * The token of `Authorization: Bearer TOKEN`, as Influx clients write it (`Token TOKEN`, `Token USER:TOKEN`), or the
 * password of `Basic`, which is all that some senders of metrics can send; null for anything else.
 */
export function tokenOf(header: string | undefined): string | null {
  const [, scheme, token] = /^(bearer|token|basic) +(\S+) *$/i.exec(header ?? '') ?? [];
  if (token === undefined) return null;
  if (scheme.toLowerCase() === 'token') return token.slice(token.indexOf(':') + 1) || null;
  if (scheme.toLowerCase() !== 'basic') return token;
  const [, password = ''] = /^[^:]*:(.*)$/s.exec(Buffer.from(token, 'base64').toString()) ?? [];
  return password === '' ? null : password;
}
