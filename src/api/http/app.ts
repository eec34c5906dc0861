import { randomUUID } from 'node:crypto';
import cookie from '@fastify/cookie';
import cors from '@fastify/cors';
import swagger from '@fastify/swagger';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import fastify from 'fastify';
import Type, { type TSchema } from 'typebox';
import { RefusedCalls } from '../accounts/refused-calls.ts';
import { BodyBudget } from '../wire/body/body-budget.ts';
import { BodyThreads } from '../wire/body/body-threads.ts';
import { BODIES_BYTES_MAX, TRANSFER_RATE } from '../wire/body/read-bytes.ts';
import { invalidRequest } from '../wire/problem.ts';
import { schemaCheck } from '../wire/schema/schema-problems.ts';
import { jsonOf } from '../wire/wire-answer.ts';
import { CONNECTION_LIMITS, type ConnectionLimits, closeStalled, limitSockets } from './connection-limits.ts';
import { addDocsPage } from './docs-page.ts';
import type { App, AppServices, GivenServices } from './exchange/app-services.ts';
import { CLIENT_GONE } from './exchange/client-gone.ts';
import { compressAnswers } from './exchange/content-encoding.ts';
import { answerProblems, PROTECTED, refuseBadConnections } from './exchange/failures.ts';
import { acceptBodies } from './exchange/request-bodies.ts';
import { refuseAmbiguousRequests } from './exchange/request-framing.ts';
import { requireKey } from './exchange/require-key.ts';
import { holdToTable, rulesOf } from './exchange/route-rules.ts';
import { largeWorkSlots } from './exchange/send-answer.ts';
import { makeServer } from './make-server.ts';
import { OPENAPI } from './openapi.ts';
import { ROUTE_TABLE } from './route-table.ts';
import { addPointRoutes } from './routes/points/point-routes.ts';
import { addHealthRoute, addRoutes } from './routes/routes.ts';
import { corsOptions, WEB_SETTINGS, type WebSettings } from './web-settings.ts';

/** Request ids of clients are kept when they are safe in a log. */
const REQUEST_ID = /^[\w-]{1,64}$/;

/** W3C Trace Context: version, trace id, parent id, flags. */
const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}$/;
/** Browsers use TLS to this host for so long. They ignore it where the connection has none. */
const TLS_ONLY_S = 31_536_000;

/** Builds the application without listening. */
export async function createApp(
  given: GivenServices,
  limits: ConnectionLimits = CONNECTION_LIMITS,
  web: WebSettings = WEB_SETTINGS,
): Promise<App> {
  const refusedCalls = refusedCallsOf(given);
  const services: AppServices = { ...given, refusedCalls, largeWork: largeWorkSlots() };
  const app = await guardedApp({ ...given, refusedCalls }, limits, web);
  app.addHook('onClose', async () => {
    await services.jobs.close();
    services.calls.close();
  });
  await app.register(swagger, OPENAPI);
  await addDocsPage(app);
  addRoutes(app, services);
  await app.ready();
  return app;
}

export type ReceiverServices = GuardServices & Required<Pick<AppServices, 'receivePoints'>>;

/** Builds an application that receives points and does nothing else. */
export async function createReceiver(
  given: ReceiverServices,
  limits: ConnectionLimits = CONNECTION_LIMITS,
  web: WebSettings = WEB_SETTINGS,
): Promise<App> {
  const app = await guardedApp({ ...given, refusedCalls: refusedCallsOf(given) }, limits, web);
  addHealthRoute(app);
  addPointRoutes(app, given);
  await app.ready();
  return app;
}

function refusedCallsOf({ store: sql, nowMs, logger }: GuardServices): RefusedCalls {
  return new RefusedCalls({ sql, nowMs, logger });
}

type GuardServices = Pick<
  GivenServices,
  'store' | 'keys' | 'nowMs' | 'logger' | 'metrics' | 'bodies' | 'bodyThreads' | 'transferRate'
>;

/** An application without routes: connections, keys, bodies and answers are held to the table of routes. */
async function guardedApp(
  services: GuardServices & Pick<AppServices, 'refusedCalls'>,
  limits: ConnectionLimits,
  { tls, trustedProxies, corsOrigins }: WebSettings,
): Promise<App> {
  const app: App = fastify({
    logger: false,
    serverFactory: (handle) => makeServer(handle, limits, tls),
    // Only names the address: the server has its certificate.
    ...((tls === null ? {} : { https: {} }) as object),
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    // Requests on open connections are still answered during shutdown. Clients would only resend them.
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: ({ headers }) => {
      const given = headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    },
    clientErrorHandler: refuseBadConnections,
    // Long ids are answered with 404. Node bounds the request line.
    routerOptions: { maxParamLength: 16_384 },
    // No hook runs for an undecodable path, so the answer is written here.
    frameworkErrors: ({ statusCode = 400, message }, _request, reply) => {
      const headers = { 'content-type': 'application/json', ...PROTECTED };
      reply.raw.writeHead(statusCode, headers).end(JSON.stringify({ detail: message }));
    },
  }).withTypeProvider<TypeBoxTypeProvider>();

  protectAnswers(app);
  limitSockets(app.server, limits, trustedProxies);
  closeStalled(app, limits);
  app.setValidatorCompiler<TSchema>(({ schema, httpPart = 'query' }) => {
    if (httpPart === 'body') return checkPresence;
    const check = schemaCheck(schema, httpPart === 'querystring' ? 'query' : httpPart);
    const lists = httpPart === 'querystring' ? listsOf(schema) : [];
    return (given: unknown) => {
      const value = lists.length === 0 ? given : withLists(given as QueryFields, lists);
      const problems = check(value);
      return problems.length === 0 ? { value } : { error: invalidRequest(problems) };
    };
  });
  app.setSerializerCompiler(() => jsonOf);
  compressAnswers(app);
  logRequests(app, services);
  refuseAmbiguousRequests(app);
  acceptBodies(app, {
    budget: services.bodies ?? new BodyBudget(BODIES_BYTES_MAX),
    rate: services.transferRate ?? TRANSFER_RATE,
    threads: services.bodyThreads ?? new BodyThreads(),
  });
  answerProblems(app, services.logger);
  holdToTable(app, ROUTE_TABLE);
  if (corsOrigins.length > 0) await app.register(cors, corsOptions(corsOrigins));
  await app.register(cookie);
  requireKey(app, services);
  return app;
}

type QueryFields = Readonly<Record<string, unknown>>;

/** The fields of a query that may be repeated. */
function listsOf({ properties = {} }: TSchema & { readonly properties?: Readonly<Record<string, TSchema>> }): string[] {
  return Object.keys(properties).filter((name) => Type.IsArray(properties[name]));
}

/** A query in which those that came once are lists, too. */
function withLists(query: QueryFields, lists: readonly string[]): QueryFields {
  const entries = Object.entries(query).map(([name, value]) => {
    return [name, lists.includes(name) && !Array.isArray(value) ? [value] : value] as const;
  });
  return Object.fromEntries(entries);
}

/** Bodies are validated while they are read. Only their presence is left to check. */
function checkPresence(value: unknown) {
  if (value !== undefined && value !== null) return { value };
  return { error: invalidRequest([{ loc: ['body'], msg: 'Field required', type: 'missing' }]) };
}

/**
 * Sets the headers of every answer, also of those that are written past the framework: clients must not guess the type,
 * and must not cache the answer unless the route allows it.
 */
function protectAnswers(app: App): void {
  app.addHook('onRequest', async (request, { raw }) => {
    raw.setHeader('x-content-type-options', 'nosniff');
    // `https` also where a trusted proxy reports it.
    if (request.protocol === 'https') raw.setHeader('strict-transport-security', `max-age=${TLS_ONLY_S}`);
    if (rulesOf(request)?.cache !== 'own') raw.setHeader('cache-control', 'no-store');
  });
}

/** Logs and counts every request when it ends, and names it in its answer. */
function logRequests(app: App, { logger, metrics }: Pick<AppServices, 'logger' | 'metrics'>): void {
  app.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  // On `close`: an answer that the client did not wait for never finishes.
  app.addHook('onRequest', async (request, reply) => {
    const { id: requestId, method } = request;
    const route = request.routeOptions.url ?? null;
    const traceId = TRACEPARENT.exec(String(request.headers.traceparent))?.[1];
    reply.raw.once('close', () => {
      const status = reply.raw.writableFinished ? reply.statusCode : CLIENT_GONE;
      const { elapsedTime } = reply;
      const ms = Math.round(elapsedTime);
      logger.info({ requestId, ...(traceId && { traceId }), method, route, status, ms }, 'request');
      metrics.httpRequests.inc({ route: route ?? 'none', status });
      metrics.httpRequestSeconds.observe({ route: route ?? 'none' }, elapsedTime / 1_000);
    });
  });
}
