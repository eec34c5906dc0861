import type { FastifyRequest } from 'fastify';
import type { ApiKey } from '../store/api-keys.ts';
import type { App } from './app.ts';
import type { KeyRing } from './key-ring.ts';
import { invalidKey } from './problem.ts';

const callers = new WeakMap<FastifyRequest, ApiKey>();

/** Lets only holders of a key pass, before anything of a body is read. */
export function requireKey(app: App, keys: KeyRing): void {
  app.addHook('onRequest', async (request) => {
    const token = bearerToken(request.headers.authorization);
    const key = token === null ? null : await keys.find(token);
    if (key === null) throw invalidKey(request.id);
    callers.set(request, key);
  });
}

/** The key that a request came with; its endpoint needs one. */
export function callerOf(request: FastifyRequest): ApiKey {
  return callers.get(request)!;
}

/** The token of `Authorization: Bearer TOKEN`; null for anything else. */
function bearerToken(header: string | undefined): string | null {
  return /^bearer +(\S+) *$/i.exec(header ?? '')?.[1] ?? null;
}
