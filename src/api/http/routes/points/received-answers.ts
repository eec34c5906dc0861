import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { PointsFormat, ReceivedPoints, ReceiveOutcome } from '../../../../records/received-points.ts';
import { bodyAnswers, Detail } from '../../../wire/schema/answer-schemas.ts';

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

/** 404: this service receives no points. */
export const LINES_ANSWERS = { ...bodyAnswers(Accepted), 404: Detail };

/** Other routes answer in the way of their protocol. */
export function pointAnswers() {
  const { 200: _, ...failures } = LINES_ANSWERS;
  return failures;
}

/** null where nothing of a body can be used: it is refused, with a status for which no sender repeats it. */
export function receivedOf(outcome: ReceiveOutcome): Received | null {
  if (outcome.kind === 'unreadable') return null;
  return outcome.refused > 0 && outcome.accepted + outcome.unwatched === 0 ? null : outcome;
}

export function reasonsOf(outcome: ReceiveOutcome): string {
  if (outcome.kind === 'unreadable') return outcome.detail;
  const { refused, accepted, reasons } = outcome;
  return `${refused} points cannot be used, ${accepted} are written: ${reasons.join('; ')}`;
}
