import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { PointsFormat, ReceivedPoints, ReceiveOutcome } from '../../../../records/received-points.ts';
import { bodyAnswers, Detail, RpcStatus } from '../../../wire/schema/answer-schemas.ts';

type Received = Extract<ReceiveOutcome, { kind: 'received' }>;

export type ReceiveBody = (
  request: FastifyRequest,
  format: PointsFormat,
  precision?: ReceivedPoints['precision'],
) => Promise<ReceiveOutcome>;

const Accepted = Type.Object({
  accepted: Type.Integer({ description: 'Points that are in Kafka now' }),
  unwatched: Type.Integer({ description: 'Points of series that no detector watches' }),
  refused: Type.Integer({ description: 'Points that cannot be used' }),
  reasons: Type.Array(Type.String(), { description: 'Why, of the first of them' }),
});

const { 200: received, 422: badQuery, 429: _, ...usual } = bodyAnswers(Accepted);
/** 404: this service receives no points. Senders get 503 instead of 429. */
const REFUSALS = { ...usual, 404: Detail };
export const JSON_LINES_ANSWERS = { 200: received, ...REFUSALS };
export const LINE_ANSWERS = { ...REFUSALS, 422: badQuery };
export const WRITE_ANSWERS = { ...REFUSALS, 409: Detail };
export const OTLP_ANSWERS = Object.fromEntries(Object.keys(REFUSALS).map((status) => [status, RpcStatus]));

/** null if nothing of a body can be used: it is refused, with a status for which no sender repeats it. */
export function receivedOf(outcome: ReceiveOutcome): Received | null {
  if (outcome.kind === 'unreadable') return null;
  return outcome.refused > 0 && outcome.accepted + outcome.unwatched === 0 ? null : outcome;
}

export function reasonsOf(outcome: ReceiveOutcome): string {
  if (outcome.kind === 'unreadable') return outcome.detail;
  const { refused, accepted, reasons } = outcome;
  return `${refused} points cannot be used, ${accepted} are written: ${reasons.join('; ')}`;
}
