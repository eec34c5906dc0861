import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiKey, makeKeySecret } from '../../../store/keys/api-keys.ts';
import { beginSession, endSession, SESSION_MS_MAX, sessionId } from '../../../store/keys/console-sessions.ts';
import { HttpProblem } from '../../wire/problem.ts';
import type { AppServices } from './app-services.ts';

const COOKIE = 'tidewatch-session';

type SessionServices = Pick<AppServices, 'keys' | 'store' | 'nowMs'>;

/** Gives the browser a session of a key. Scripts of the page cannot read it, and other sites cannot send it. */
export async function startSession(
  request: FastifyRequest,
  reply: FastifyReply,
  { keyId, keys, store, nowMs }: SessionServices & { readonly keyId: string },
): Promise<void> {
  const token = makeKeySecret();
  await store.transaction((sql) => beginSession(sql, { token, keyId, nowMs: nowMs() }));
  keys.sessionsChanged();
  // The store ends it earlier where it is idle.
  reply.setCookie(COOKIE, token, { ...attributesFor(request), maxAge: SESSION_MS_MAX / 1_000 });
}

export async function stopSession(
  request: FastifyRequest,
  reply: FastifyReply,
  { keys, store }: SessionServices,
): Promise<void> {
  const token = request.cookies[COOKIE];
  if (token !== undefined) await endSession(store, token);
  keys.sessionsChanged();
  reply.clearCookie(COOKIE, attributesFor(request));
}

/** The usable key of the session that a request has; null without one. Refuses requests that other sites caused. */
export async function sessionKey(
  request: FastifyRequest,
  { keys }: Pick<SessionServices, 'keys'>,
): Promise<ApiKey | null> {
  const token = request.cookies?.[COOKIE];
  if (token === undefined) return null;
  if (!isOfThisSite(request)) throw new HttpProblem(403, 'A session is accepted from the console itself only');
  return keys.findBySession(token, request.ip);
}

/** The id of the session that a request has; null without one. */
export function requestSessionId(request: FastifyRequest): string | null {
  const token = request.cookies?.[COOKIE];
  return token === undefined ? null : sessionId(token);
}

function attributesFor({ protocol }: FastifyRequest) {
  // A browser drops a secure cookie of a service without TLS. A trusted proxy reports that there is TLS before it.
  return { path: '/', httpOnly: true, sameSite: 'strict', secure: protocol === 'https' } as const;
}

/**
 * A second line behind SameSite: browsers name where a request comes from. Sites on other ports of this host are the
 * same site to a cookie, but not to this check. Without TLS only `Origin` is sent, with what changes something.
 */
function isOfThisSite({ headers, method, host }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  if (method === 'GET' || method === 'HEAD') return true;
  const { origin } = headers;
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;
}
