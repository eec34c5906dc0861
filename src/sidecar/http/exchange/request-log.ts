import type { AppServices } from './app-services.ts';
import { CLIENT_GONE } from './client-gone.ts';
import type { App } from './fastify-app.ts';

/** W3C Trace Context: version, trace id, parent id, flags. */
const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}$/;

/** Logs and counts every request when it ends, and names it in its answer. */
export function logRequests(app: App, { logger, metrics }: Pick<AppServices, 'logger' | 'metrics'>): void {
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
