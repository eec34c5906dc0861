import type { Server as TlsServer } from 'node:https';
import { ServiceError } from '../../ops/service-error.ts';
import { BodyBudget } from '../wire/body/body-budget.ts';
import { BodyThreads } from '../wire/body/body-threads.ts';
import { BODIES_BYTES_MAX } from '../wire/body/read-bytes.ts';
import { createApp, createReceiver, type ReceiverServices } from './app.ts';
import { CONNECTION_LIMITS, type ConnectionLimits } from './connection-limits.ts';
import type { App, GivenServices } from './exchange/app-services.ts';
import { readTls, renewTls, type TlsPaths } from './tls-files.ts';
import { isExposed, type WebSettings } from './web-settings.ts';

interface ServerPlace
  extends Partial<Pick<ConnectionLimits, 'connectionsMax' | 'perAddressMax'>>,
    Partial<Omit<WebSettings, 'tls'>> {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** Files of certificate and key, read again when they change; null: plain HTTP. */
  readonly tls?: TlsPaths | null;
}

interface HttpServer {
  readonly url: string;
  /** Why requests cannot be answered as they should; null when they can. */
  trouble(): string | null;
  /** Memory that request bodies take now. */
  bodyBytes(): number;
  /** Stops accepting connections and waits for open requests, at most `msMax`; then closes their connections. */
  close(msMax: number): Promise<void>;
}

const PLAIN_BEYOND_LOOPBACK =
  'keys can be intercepted: other machines can reach this address, which has no TLS; set HTTP_TLS_CERT and ' +
  'HTTP_TLS_KEY, or HTTP_TRUSTED_PROXIES if a proxy terminates TLS';

/** Throws a ServiceError `configuration` when the address cannot be bound, or the certificate cannot be used. */
export function startHttpServer(options: GivenServices & ServerPlace): Promise<HttpServer> {
  return listen(options, createApp);
}

/** The same for a service that receives points and does nothing else. */
export function startReceiverServer(options: ReceiverServices & ServerPlace): Promise<HttpServer> {
  return listen(options, createReceiver);
}

type CreateApp<Services> = (services: Services, limits: ConnectionLimits, web: WebSettings) => Promise<App>;

async function listen<Services extends Pick<GivenServices, 'logger'>>(
  options: Services & ServerPlace,
  create: CreateApp<Services>,
): Promise<HttpServer> {
  const { host, port, tls: paths = null, trustedProxies = [], corsOrigins = [], ...others } = options;
  const {
    connectionsMax = CONNECTION_LIMITS.connectionsMax,
    perAddressMax = CONNECTION_LIMITS.perAddressMax,
    ...services
  } = others;
  const tls = paths === null ? null : await readTls(paths);
  const limits = { ...CONNECTION_LIMITS, connectionsMax, perAddressMax };
  const bodyThreads = new BodyThreads();
  const bodies = new BodyBudget(BODIES_BYTES_MAX);
  const given = { bodies, ...services, bodyThreads } as unknown as Services;
  const app = await create(given, limits, { tls, trustedProxies, corsOrigins });
  const { logger } = options;
  if (paths !== null && tls !== null) renewTls(app.server as unknown as TlsServer, tls, { paths, logger });
  if (isExposed({ host, encrypted: tls !== null, trustedProxies })) logger.warn({ host }, PLAIN_BEYOND_LOOPBACK);
  let url: string;
  try {
    url = await app.listen({ host, port });
  } catch (error) {
    await app.close();
    const fault = `${host}:${port} cannot be listened on (${(error as Error).message})`;
    const text = `${fault}; set HTTP_HOST and HTTP_PORT (--http-port)`;
    throw new ServiceError('configuration', text, { cause: error });
  }
  return {
    url,
    trouble: () => bodyThreads.trouble,
    bodyBytes: () => bodies.held,
    async close(msMax) {
      const deadline = setTimeout(() => app.server.closeAllConnections(), msMax);
      await app.close();
      clearTimeout(deadline);
    },
  };
}
