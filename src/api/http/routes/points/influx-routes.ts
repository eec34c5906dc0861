import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { ReceiveOutcome } from '../../../../records/received-points.ts';
import { HttpProblem } from '../../../wire/problem.ts';
import type { App } from '../../exchange/app-services.ts';
import { LINE_ANSWERS, type ReceiveBody, reasonsOf } from './received-answers.ts';

/** The version whose interface is answered: clients choose what they send by it. */
export const INFLUX_VERSION = '1.8.10';

const PRECISIONS = { n: 'ns', ns: 'ns', u: 'us', us: 'us', ms: 'ms', s: 's', m: 'm', h: 'h' } as const;

const Write1 = Type.Object({
  precision: Type.Optional(Type.Enum(Object.keys(PRECISIONS), { description: 'Unit of the times (n: nanoseconds)' })),
  db: Type.Optional(Type.String({ description: 'Ignored, as rp and consistency are' })),
  u: Type.Optional(Type.String({ description: 'Any user' })),
  p: Type.Optional(Type.String({ description: 'The API key, unless a header has it' })),
});
const Write2 = Type.Object({
  precision: Type.Optional(Type.Enum(['ns', 'us', 'ms', 's'], { description: 'Unit of the times (ns)' })),
});
const Query = Type.Object({
  q: Type.Optional(Type.String({ description: 'CREATE DATABASE or SHOW DATABASES' })),
  db: Type.Optional(Type.String()),
  u: Type.Optional(Type.String()),
  p: Type.Optional(Type.String()),
});

/** Line protocol, as clients of InfluxDB 1 and 2 and Telegraf write it. Nothing is read back. */
export function addInfluxRoutes(app: App, receive: ReceiveBody): void {
  app.post('/api/v2/write', { schema: { querystring: Write2, response: LINE_ANSWERS } }, async (request, reply) =>
    sendEmpty(reply, await receive(request, 'line-protocol', request.query.precision)),
  );
  const schema = { querystring: Write1, response: LINE_ANSWERS };
  app.post('/write', { schema }, async (request, reply) => {
    const precision = PRECISIONS[(request.query.precision ?? 'n') as keyof typeof PRECISIONS];
    return sendEmpty(reply, await receive(request, 'line-protocol', precision));
  });
  const answer = (request: FastifyRequest<{ Querystring: Type.Static<typeof Query> }>) => {
    const form = new URLSearchParams(Buffer.isBuffer(request.body) ? String(request.body) : '');
    return resultOf(request.query.q ?? form.get('q') ?? '', request.query.db ?? form.get('db') ?? undefined);
  };
  app.get('/query', { schema: { querystring: Query } }, async (request) => answer(request));
  app.post('/query', { schema: { querystring: Query, response: LINE_ANSWERS } }, async (request, reply) =>
    reply.type('application/json').send(JSON.stringify(answer(request)) as never),
  );
  const versions = { 'x-influxdb-version': INFLUX_VERSION, 'x-influxdb-build': 'OSS' };
  app.get('/ping', async (_request, reply) => reply.code(204).headers(versions).send());
}

const STATEMENT = /^\s*(?:(create)\s+database\b|(show)\s+databases\s*)/i;

/** Points belong to no database, so every name that a client uses exists. */
function resultOf(q: string, db = 'tidewatch') {
  const [, created, shown] = STATEMENT.exec(q) ?? [];
  if (created === undefined && shown === undefined) {
    const message = `q must be CREATE DATABASE or SHOW DATABASES, got ${JSON.stringify(q.slice(0, 80))}`;
    throw new HttpProblem(400, message, { body: { error: message } });
  }
  const series = [{ name: 'databases', columns: ['name'], values: [[db]] }];
  return { results: [{ statement_id: 0, ...(shown !== undefined && { series }) }] };
}

/** Clients of InfluxDB 1 show `error`, those of 2 and Telegraf `message`. None repeats the request. */
function sendEmpty(reply: FastifyReply, outcome: ReceiveOutcome) {
  if (outcome.kind === 'received' && outcome.refused === 0) return reply.code(204).send();
  const message = reasonsOf(outcome);
  throw new HttpProblem(400, message, { body: { code: 'invalid', message, error: message } });
}
