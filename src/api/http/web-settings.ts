import { isIPv4 } from 'node:net';
import type { FastifyCorsOptions } from '@fastify/cors';
import type { TlsMaterial } from './tls-files.ts';

export interface WebSettings {
  /** null: plain HTTP. */
  readonly tls: TlsMaterial | null;
  /** Addresses and networks whose `X-Forwarded-For` names the client. */
  readonly trustedProxies: readonly string[];
  /** Origins of web pages that may call the service; `*` is any. Without one no page of another origin may. */
  readonly corsOrigins: readonly string[];
}

export const WEB_SETTINGS: WebSettings = { tls: null, trustedProxies: [], corsOrigins: [] };

const PREFLIGHT_S = 600;

/** Keys travel in a header, so cookies are not allowed across origins. */
export function corsOptions(origins: readonly string[]): FastifyCorsOptions {
  return {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'POST', 'DELETE'],
    allowedHeaders: ['authorization', 'content-type', 'idempotency-key', 'traceparent', 'x-request-id'],
    exposedHeaders: ['ratelimit', 'ratelimit-policy', 'retry-after', 'warning', 'x-request-id'],
    maxAge: PREFLIGHT_S,
  };
}

/** True if other machines reach the address, and nothing encrypts what they send. */
export function isExposed({
  host,
  encrypted,
  trustedProxies,
}: Pick<WebSettings, 'trustedProxies'> & { readonly host: string; readonly encrypted: boolean }): boolean {
  const isLoopback = host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
  return !encrypted && trustedProxies.length === 0 && !isLoopback;
}
