import type { FastifyRequest } from 'fastify';
import type { ApiKey } from '../../../store/api-keys.ts';
import { hasRole, type KeyRole } from '../../../store/key-role.ts';
import type { Caller } from '../../accounts/caller.ts';
import { HttpProblem, invalidKey } from '../../wire/problem.ts';
import type { AppServices } from './app-services.ts';
import { sessionKey } from './console-session.ts';
import type { App } from './fastify-app.ts';

const callers = new WeakMap<FastifyRequest, Caller>();

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The role that a route needs; without it, a GET needs a viewer and anything else an operator. */
    readonly role?: KeyRole;
  }
}

/** The `config` of a route that needs another role than its method says. */
export function requireRole(role: KeyRole): { readonly role: KeyRole } {
  return { role };
}

type KeyServices = Pick<AppServices, 'keys' | 'store' | 'nowMs' | 'refusedCalls'>;

/**
 * Requires an API key with the role that the route needs, before any part of the body is read: the key itself, or a
 * session of the console.
 */
export function requireKey(app: App, services: KeyServices): void {
  const { refusedCalls } = services;
  app.addHook('onRequest', async (request) => {
    const key = await keyOfRequest(request, services);
    if (key === null) throw invalidKey(request.id);
    const { role = request.method === 'GET' || request.method === 'HEAD' ? 'viewer' : 'operator' } =
      request.routeOptions.config;
    if (!hasRole(key.role, role)) throw roleNeeded(role, key.role);
    callers.set(request, { key, requestId: request.id });
    const refusal = isCall(request) ? refusedCalls.refusal(key) : null;
    if (refusal !== null) throw refusal;
  });
  app.addHook('onResponse', async (request, reply) => {
    const caller = callers.get(request);
    const refused = reply.statusCode >= 400 && reply.statusCode < 500 && !admitted.has(request);
    if (caller !== undefined && refused && isCall(request)) await refusedCalls.count(caller.key);
  });
}

const admitted = new WeakSet<FastifyRequest>();

/** Notes that a request is an admitted call, which is counted already. */
export function noteAdmitted(request: FastifyRequest): void {
  admitted.add(request);
}

/** Whether a request is a call: it has a body of series. */
function isCall({ routeOptions: { schema } }: FastifyRequest): boolean {
  const body = schema?.body as { readonly properties?: object } | undefined;
  return body?.properties !== undefined && 'series' in body.properties;
}

function keyOfRequest(request: FastifyRequest, services: KeyServices): Promise<ApiKey | null> {
  const token = bearerToken(request.headers.authorization);
  return token === null ? sessionKey(request, services) : services.keys.find(token, request.ip);
}

function roleNeeded(needed: KeyRole, role: KeyRole): HttpProblem {
  return new HttpProblem(403, `This needs a key with the role ${needed}; this key has the role ${role}`);
}

/** The caller of a request to a secured endpoint. */
export function callerOf(request: FastifyRequest): Caller {
  return callers.get(request)!;
}

/** The token of `Authorization: Bearer TOKEN`; null for anything else. */
function bearerToken(header: string | undefined): string | null {
  return /^bearer +(\S+) *$/i.exec(header ?? '')?.[1] ?? null;
}
