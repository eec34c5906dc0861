import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../../../ops/logger.ts';
import { ServiceError } from '../../../ops/service-error.ts';
import { countAndText, rpcCodeOf } from '../../wire/otlp-answers.ts';
import { HttpProblem, overloaded, problemOf } from '../../wire/problem.ts';
import type { App } from './app-services.ts';
import { rulesOf } from './route-rules.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'] as const;

/**
 * Headers of an answer that is written past the framework: clients must not guess the type and must not cache the
 * answer.
 */
export const PROTECTED = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };

const NO_STEPS =
  'execute_step runs calls of a private library, with access granted per account, so this service has none of them';

/** Paths that senders of metrics write to, here and elsewhere, by how they end. */
const WRITE_PATHS: readonly (readonly [end: RegExp, path: string])[] = [
  [/\/v1\/metrics$/, '/v1/metrics'],
  [/\/(?:api\/v1\/(?:write|push|receive)|api\/prom\/push|receive)$/, '/api/v1/write'],
  [/\/api\/v2\/write$|\/write_lp$/, '/api/v2/write'],
  [/\/write$/, '/write'],
  [/\/observations$/, '/v1/observations'],
];
const WRITE_PATHS_TEXT =
  'Prometheus writes to /api/v1/write, OpenTelemetry to /v1/metrics, Influx clients and Telegraf to /api/v2/write';

/** Paths that public clients before 0.6 call. */
const PATHS_BEFORE_V2 =
  /\/(?:timegpt(?:_\w+)?|(?:historic_)?forecast|\w+_multi_series|model_input_size|validate_token_front)$/;
const CLIENT_TOO_OLD =
  'Not Found: this client is too old for the /v2 API; ' +
  'use nixtla 0.6 or newer (Python: pip install --upgrade nixtla) or nixtlar 0.6 or newer (R)';

function unknownPath(path: string, isRoute: (path: string) => boolean): string {
  if (/^\/v2\/execute_step(?:\/|$)/.test(path)) return NO_STEPS;
  if (!path.startsWith('/v2/') && PATHS_BEFORE_V2.test(path)) return CLIENT_TOO_OLD;
  const plain = path.toLowerCase().replace(/\/+/g, '/').replace(/\/$/, '');
  const [, meant = ''] = WRITE_PATHS.find(([end]) => end.test(plain)) ?? [];
  if (isRoute(meant)) return `Not Found: metrics are written to ${meant}`;
  return plain === '' && isRoute('/v1/metrics') ? `Not Found: ${WRITE_PATHS_TEXT}` : 'Not Found';
}

/** Answers every error in JSON with `detail`. */
export function answerProblems(app: App, logger: Logger): void {
  app.setErrorHandler((error, request, reply) => {
    const known = problemOf(error);
    // Senders of metrics drop for good what is refused with 408 or 429.
    const isLater = rulesOf(request)?.rawBody === 'points' && [408, 429].includes(known.status);
    const problem = isLater ? overloaded(known.message) : known;
    if (problem.status >= 500 && !(error instanceof HttpProblem) && !isOverload(error)) {
      logger.error({ err: error, requestId: request.id }, 'a request failed');
    }
    // An unread rest of the body would be parsed as the next request. Fastify closes after every refused body; a body
    // that was read needs no close.
    if (request.raw.complete) reply.removeHeader('connection');
    else reply.header('connection', 'close');
    reply.code(problem.status).headers(problem.headers);
    return request.routeOptions.url === '/v1/metrics' ? sendStatus(request, reply, problem) : reply.send(problem.body);
  });
  const answerUnknown = (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0];
    const allowed = METHODS.filter((method) => app.findRoute({ method, url: path }) !== null);
    if (allowed.length === 0) {
      const isRoute = (url: string) => app.findRoute({ method: 'POST', url }) !== null;
      const problem = new HttpProblem(404, unknownPath(path, isRoute));
      const isOtlp =
        /\bprotobuf\b/.test(request.headers['content-type'] ?? '') && !/\/(?:write|push|receive)\b/.test(path);
      return isOtlp ? sendStatus(request, reply.code(404), problem) : reply.code(404).send(problem.body);
    }
    return reply.code(405).header('allow', allowed.join(', ')).send({ detail: 'Method Not Allowed' });
  };
  app.setNotFoundHandler(answerUnknown);
  // An unknown method is refused before its body is checked.
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404 && !METHODS.some((method) => method === request.method)) return answerUnknown(request, reply);
    return undefined;
  });
}

/** OTLP: a failure is a google.rpc.Status in the encoding of the request. Senders log its message alone. */
function sendStatus({ headers }: FastifyRequest, reply: FastifyReply, { status, message, body }: HttpProblem) {
  const code = rpcCodeOf(status);
  if (/^\s*application\/json\b/i.test(headers['content-type'] ?? '')) {
    return reply.send({ code, message, detail: body.detail });
  }
  return reply.type('application/x-protobuf').send(countAndText(code, message));
}

const EXPECTED_CODES: ReadonlySet<string> = new Set(['overloaded', 'history-unavailable', 'broker-unavailable']);

/** Expected under load or while Kafka is away, so not logged as an error. */
export const isOverload = (error: unknown) => error instanceof ServiceError && EXPECTED_CODES.has(error.code);

const UNREADABLE: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** Time to read the refusal of a connection. Its socket is destroyed then, or earlier where the client closes it. */
const REFUSED_MS_MAX = 1_000;

/**
 * Answers requests that Node cannot parse as HTTP. A socket whose client never closes its side would count towards the
 * connections of its address for ever.
 */
export function refuseBadConnections(error: Error & { readonly code?: string }, socket: Socket): void {
  // Whatever arrives after the refusal is refused, too.
  if (socket.writableEnded) return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = UNREADABLE[error.code ?? ''] ?? '400 Bad Request';
  const body = JSON.stringify({ detail: status.slice(4) });
  const headers = { 'content-type': 'application/json', ...PROTECTED, 'content-length': body.length };
  const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status}`, ...lines, '', body].join('\r\n'));
  const timer = setTimeout(() => socket.destroy(), REFUSED_MS_MAX);
  socket.once('close', () => clearTimeout(timer));
}
