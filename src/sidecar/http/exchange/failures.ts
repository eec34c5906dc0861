import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../../service-error.ts';
import type { Logger } from '../../../telemetry/logger.ts';
import { HttpProblem, problemOf } from '../../wire/problem.ts';
import type { App } from './fastify-app.ts';

const METHODS = ['GET', 'POST', 'DELETE'] as const;

/** Every answer is JSON with `detail`, whatever went wrong and wherever. */
export function answerProblems(app: App, logger: Logger): void {
  app.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error);
    if (problem.status >= 500 && !(error instanceof HttpProblem) && !isOverload(error)) {
      logger.error({ err: error, requestId: request.id }, 'a request failed');
    }
    // What was not read to its end would be taken for the next request; the framework closes after every body it could not take.
    if (request.raw.complete) reply.removeHeader('connection');
    else reply.header('connection', 'close');
    return reply.code(problem.status).headers(problem.headers).send(problem.body);
  });
  const answerUnknown = (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0];
    const allowed = METHODS.filter((method) => app.findRoute({ method, url: path }) !== null);
    if (allowed.length === 0) return reply.code(404).send({ detail: 'Not Found' });
    return reply.code(405).header('allow', allowed.join(', ')).send({ detail: 'Method Not Allowed' });
  };
  app.setNotFoundHandler(answerUnknown);
  // A method that nothing here has is refused for itself: what its body lacks does not matter.
  app.addHook('onRequest', async (request, reply) => {
    if (request.is404 && !METHODS.some((method) => method === request.method)) return answerUnknown(request, reply);
    return undefined;
  });
}

/** Expected, and said by what is answered. */
const isOverload = (error: unknown) => error instanceof ServiceError && error.code === 'overloaded';

const UNREADABLE: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** What Node could not read as HTTP never becomes a request. */
export function refuseBadConnections(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  const status = UNREADABLE[error.code ?? ''] ?? '400 Bad Request';
  const body = JSON.stringify({ detail: status.slice(4) });
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  );
}
