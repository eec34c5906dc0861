import type { HttpConfig } from '../../config/http-config.ts';

/** Where an HTTP server listens, and how many connections it takes. */
export function httpPlace({ host, port, tls, trustedProxies, corsOrigins, ...limits }: HttpConfig) {
  const { connectionsMax, connectionsPerAddressMax: perAddressMax } = limits;
  return { host, port, tls, trustedProxies, corsOrigins, connectionsMax, perAddressMax };
}
