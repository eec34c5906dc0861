import type { McpHttpHandler } from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Ask, ToolProblem } from '../../mcp/mcp-tools.ts';
import type { App } from '../exchange/app-services.ts';

/**
 * Answers assistants by the Model Context Protocol (streamable HTTP, stateless). Each question becomes a GET request of
 * this service with the key of the caller: routes, roles and limits are those of the API.
 */
export function addMcpRoute(app: App): void {
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const handler = await handlerOf(app, request);
    const body = Buffer.isBuffer(request.body) ? new Uint8Array(request.body) : null;
    const answer = await handler.fetch(
      // The host is not used: the handler reads method, headers and body.
      new Request('http://localhost/mcp', { method: request.method, headers: headersOf(request), body }),
    );
    const type = answer.headers.get('content-type');
    if (type !== null) reply.type(type);
    return reply.code(answer.status).send(Buffer.from(await answer.arrayBuffer()));
  };
  app.post('/mcp', serve);
  // Both belong to sessions, which a stateless server has not: they are answered with 405.
  app.get('/mcp', serve);
  app.delete('/mcp', serve);
}

/** Loaded with the first request: most services have no assistant. */
async function handlerOf(app: App, request: FastifyRequest): Promise<McpHttpHandler> {
  const [{ createMcpHandler }, { mcpServer }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('../../mcp/mcp-server.ts'),
  ]);
  // Without subscriptions every answer ends.
  return createMcpHandler(mcpServer(askOf(app, request)), { maxSubscriptions: 0 });
}

function headersOf({ headers }: FastifyRequest): Headers {
  const texts = Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return new Headers(texts.filter(([name]) => name !== 'content-length' && name !== 'content-encoding'));
}

function askOf(app: App, { headers, ip }: FastifyRequest): Ask {
  const { authorization, traceparent } = headers;
  return async (path, query = {}) => {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const texts = Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
    const answer = await app.inject({
      url: `${path}?${new URLSearchParams(texts)}`,
      headers: { ...(authorization && { authorization }), ...(traceparent && { traceparent }) },
      remoteAddress: ip,
    });
    const body: Readonly<Record<string, unknown>> = JSON.parse(answer.payload);
    if (answer.statusCode === 200) return body;
    throw new ToolProblem(answer.statusCode, problemText(body.detail));
  };
}

/** The words of a problem, which has one detail or a list of fields. */
function problemText(detail: unknown): string {
  if (!Array.isArray(detail)) return String(detail);
  return detail.map(({ loc, msg }) => `${(loc as readonly unknown[]).slice(1).join('.')}: ${msg}`).join('; ');
}
