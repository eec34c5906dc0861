import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../accounts/caller.ts';
import type { KeyRing } from '../../accounts/key-ring.ts';
import { invalidKey } from '../../wire/problem.ts';
import type { App } from './fastify-app.ts';

const callers = new WeakMap<FastifyRequest, Caller>();

/** Requires an API key, before any part of the body is read. */
export function requireKey(app: App, keys: KeyRing): void {
  app.addHook('onRequest', async (request) => {
    const token = bearerToken(request.headers.authorization);
    const key = token === null ? null : await keys.find(token);
    if (key === null) throw invalidKey(request.id);
    callers.set(request, { key, requestId: request.id });
  });
}

/** The caller of a request to a secured endpoint. */
export function callerOf(request: FastifyRequest): Caller {
  return callers.get(request)!;
}

/** The token of `Authorization: Bearer TOKEN`; null for anything else. */
function bearerToken(header: string | undefined): string | null {
  return /^bearer +(\S+) *$/i.exec(header ?? '')?.[1] ?? null;
}
