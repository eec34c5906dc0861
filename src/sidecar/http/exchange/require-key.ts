import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../accounts/caller.ts';
import type { KeyRing } from '../../accounts/key-ring.ts';
import { invalidKey } from '../../wire/problem.ts';
import type { App } from './fastify-app.ts';

const callers = new WeakMap<FastifyRequest, Caller>();

/** Lets only holders of a key pass, before anything of a body is read. */
export function requireKey(app: App, keys: KeyRing): void {
  app.addHook('onRequest', async (request) => {
    const token = bearerToken(request.headers.authorization);
    const key = token === null ? null : await keys.find(token);
    if (key === null) throw invalidKey(request.id);
    callers.set(request, { key, requestId: request.id });
  });
}

/** Whose request it is; its endpoint needs a key. */
export function callerOf(request: FastifyRequest): Caller {
  return callers.get(request)!;
}

/** The token of `Authorization: Bearer TOKEN`; null for anything else. */
function bearerToken(header: string | undefined): string | null {
  return /^bearer +(\S+) *$/i.exec(header ?? '')?.[1] ?? null;
}
