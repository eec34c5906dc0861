import { MIMEType } from 'node:util';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ReceiveOutcome } from '../../../../records/received-points.ts';
import { partialSuccess } from '../../../wire/otlp-answers.ts';
import { HttpProblem } from '../../../wire/problem.ts';
import type { App, AppServices } from '../../exchange/app-services.ts';
import { codingOf, SNAPPY } from '../../exchange/request-bodies.ts';
import { addInfluxRoutes } from './influx-routes.ts';
import {
  JSON_LINES_ANSWERS,
  OTLP_ANSWERS,
  type ReceiveBody,
  reasonsOf,
  receivedOf,
  WRITE_ANSWERS,
} from './received-answers.ts';
/**
 * Where senders of metrics write to: Prometheus, OpenTelemetry, Influx clients and Telegraf, JSON lines. An answer of
 * success means that Kafka has the points. Senders repeat what is refused for now (503); what they sent twice is
 * dropped as duplicates of its time step.
 */
export function addPointRoutes(app: App, services: Pick<AppServices, 'receivePoints'>): void {
  const receive: ReceiveBody = async (request, format, precision = 'ns') => {
    const { receivePoints } = services;
    if (receivePoints === undefined) throw new HttpProblem(404, 'This service receives no points: run receive');
    const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const coding = codingOf(request);
    const snappy = coding === 'identity' ? null : coding === SNAPPY;
    return receivePoints({ format, bytes, snappy, precision });
  };

  app.post('/api/v1/write', { schema: { response: WRITE_ANSWERS } }, async (request, reply) => {
    const type = mediaTypeOf(request);
    if (/[/+]json$/.test(type?.essence ?? '')) {
      throw new HttpProblem(415, 'Content-Type must be application/x-protobuf: remote write has no JSON');
    }
    const message = type?.params.get('proto') ?? WRITE_MESSAGES[0];
    if (!WRITE_MESSAGES.includes(message)) {
      const text = `The parameter proto of Content-Type must be ${WRITE_MESSAGES.join(' or ')}, got ${message}`;
      throw new HttpProblem(415, text.slice(0, 200));
    }
    return sendWritten(request, reply, await receive(request, 'remote-write'));
  });
  addInfluxRoutes(app, receive);
  app.post('/v1/observations', { schema: { response: JSON_LINES_ANSWERS } }, async (request) => {
    const outcome = await receive(request, 'json-lines');
    const received = receivedOf(outcome);
    if (received === null) throw new HttpProblem(400, reasonsOf(outcome));
    const { accepted, unwatched, refused, reasons } = received;
    return { accepted, unwatched, refused, reasons: [...reasons] };
  });
  app.post('/v1/metrics', { schema: { response: OTLP_ANSWERS } }, async (request, reply) =>
    sendOtlp(request, reply, receive),
  );
}

/** Messages of remote write 1.0, which it is without a name, and of 2.0. */
const WRITE_MESSAGES: readonly string[] = ['prometheus.WriteRequest', 'io.prometheus.write.v2.Request'];

/** null if it is missing, or no media type. */
function mediaTypeOf({ headers }: FastifyRequest): MIMEType | null {
  try {
    return new MIMEType(headers['content-type'] ?? '');
  } catch {
    return null;
  }
}

/** Senders do not repeat what is refused; the rest is written. */
function refusal(outcome: ReceiveOutcome, status = 400, headers = {}): HttpProblem {
  const message = reasonsOf(outcome);
  return new HttpProblem(status, message, { body: { code: 'invalid', message }, headers });
}

/**
 * The three counts make a sender of 1.0 or 2.0 count what was refused, and no more; without them a success of 2.0 is a
 * failure. vmagent takes 400 as a refusal of its zstd and sends all again; 409 it reports and does not repeat.
 */
function sendWritten(request: FastifyRequest, reply: FastifyReply, outcome: ReceiveOutcome) {
  if (outcome.kind === 'unreadable') throw refusal(outcome);
  const { accepted, unwatched, missing, refused, histograms = { count: 0, points: 0 } } = outcome;
  const samples = accepted + unwatched + missing - histograms.points;
  const written = {
    'x-prometheus-remote-write-samples-written': String(Math.max(samples, 0)),
    'x-prometheus-remote-write-histograms-written': String(histograms.count),
    'x-prometheus-remote-write-exemplars-written': '0',
  };
  if (refused === 0) return reply.code(204).headers(written).send();
  throw refusal(outcome, codingOf(request) === 'zstd' ? 409 : 400, written);
}

/**
 * The answer is an ExportMetricsServiceResponse in the encoding of the request; where nothing can be used it is 400, as
 * the protocol demands of bad data.
 */
async function sendOtlp(request: FastifyRequest, reply: FastifyReply, receive: ReceiveBody) {
  const isJson = mediaTypeOf(request)?.essence === 'application/json';
  const outcome = await receive(request, isJson ? 'otlp-json' : 'otlp-protobuf');
  const received = receivedOf(outcome);
  if (received === null) throw new HttpProblem(400, reasonsOf(outcome));
  const { refused, reasons } = received;
  const errorMessage = reasons.join('; ');
  if (isJson) {
    const partial = refused === 0 ? {} : { partialSuccess: { rejectedDataPoints: String(refused), errorMessage } };
    return reply.type('application/json').send(JSON.stringify(partial));
  }
  return reply.type('application/x-protobuf').send(partialSuccess(refused, errorMessage));
}
