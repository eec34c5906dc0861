import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from './metrics.ts';
import { ServiceError } from './service-error.ts';

/** Only probes and scrapers connect. Further connections are refused, and slow requests are closed. */
const CONNECTIONS_MAX = 64;
const REQUEST_MS_MAX = 10_000;

interface OpsServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Ports above `port` that are tried while one is taken by another program. */
  readonly furtherPorts?: readonly number[];
  readonly settings?: string;
  readonly metrics: { readonly registry: Pick<Metrics['registry'], 'contentType' | 'metrics'> };
  /** Reasons why the service is not ready, one sentence each; empty when it is. Called at every probe. */
  readonly reasonsNotReady: () => readonly string[];
  /** Problems that do not stop the service, one sentence each. */
  readonly warnings?: () => readonly string[];
}

export interface OpsServer {
  readonly url: string;
  close(): Promise<void>;
}

interface OpsResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/**
 * HTTP server for operators: `/healthz` (the process answers), `/readyz` (503 with reasons until the service is ready;
 * warnings next to them), `/metrics`. Throws a ServiceError `configuration` when it cannot listen.
 */
export async function startOpsServer(options: OpsServerOptions): Promise<OpsServer> {
  const server = createServer((request, response) => {
    answer(request, options).then(
      (answer) => write(request, response, answer),
      (error: unknown) => write(request, response, json(500, { status: 'failed', reasons: [String(error)] })),
    );
  });
  server.maxConnections = CONNECTIONS_MAX;
  server.requestTimeout = REQUEST_MS_MAX;
  server.headersTimeout = REQUEST_MS_MAX;
  // A connection that cannot be accepted later must not end the service.
  server.on('error', () => undefined);
  await listen(server, options, [options.port, ...(options.furtherPorts ?? [])]);
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, options: OpsServerOptions): Promise<OpsResponse> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return json(405, { status: 'method not allowed' });
  switch (request.url?.split('?', 1)[0]) {
    case '/healthz':
      return json(200, { status: 'ok' });
    case '/readyz':
      return readiness(options);
    case '/metrics': {
      const { registry } = options.metrics;
      return { status: 200, contentType: registry.contentType, body: await registry.metrics() };
    }
    default:
      return json(404, { status: 'not found', paths: ['/healthz', '/readyz', '/metrics'] });
  }
}

function readiness({ reasonsNotReady, warnings: warningsOf = () => [] }: OpsServerOptions): OpsResponse {
  const [reasons, found] = [reasonsNotReady(), warningsOf()];
  const warnings = found.length === 0 ? {} : { warnings: found };
  if (reasons.length === 0) return json(200, { status: 'ready', ...warnings });
  return json(503, { status: 'not ready', reasons, ...warnings });
}

function json(status: number, body: unknown): OpsResponse {
  return { status, contentType: 'application/json', body: `${JSON.stringify(body)}\n` };
}

function write(request: IncomingMessage, response: ServerResponse, { status, contentType, body }: OpsResponse): void {
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

const LISTEN_FAULTS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is taken by another program',
  EACCES: 'may not be opened by this user',
  EADDRNOTAVAIL: 'is no address of this machine',
  ENOTFOUND: 'is no known host',
};

async function listen(
  server: Server,
  { host, settings = 'OPS_HOST and OPS_PORT (--ops-port)' }: Pick<OpsServerOptions, 'host' | 'settings'>,
  [port, ...further]: readonly number[],
): Promise<void> {
  server.listen({ host, port });
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE' && further.length > 0) return listen(server, { host, settings }, further);
    const fault = LISTEN_FAULTS[code] ?? `cannot be opened (${message})`;
    const text = `${host}:${port} ${fault}; set ${settings}, 0 for any free port`;
    throw new ServiceError('configuration', text, { cause: error });
  }
}
