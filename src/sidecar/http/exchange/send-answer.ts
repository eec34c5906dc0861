import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { charged, type Work } from '../../accounts/metering.ts';
import { jsonOf, jsonPieces, numbersIn } from '../../wire/wire-answer.ts';
import type { AppServices } from './app-services.ts';
import { clientGone } from './client-gone.ts';
import { callerOf } from './require-key.ts';

/**
 * Larger answers are streamed. As one text they would need their memory and time at once, and the longest exceed the
 * length of a string.
 */
const STREAMED_NUMBERS_MIN = 100_000;

export interface Exchange {
  readonly services: Pick<AppServices, 'calls'>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Runs the work of a request, charges it, and sends the answer. A handler returns what this returns. */
export async function answerWith({ services, request, reply }: Exchange, work: Work): Promise<FastifyReply> {
  const answer = await charged({ calls: services.calls, caller: callerOf(request), signal: clientGone(reply) }, work);
  const long = numbersIn(answer) >= STREAMED_NUMBERS_MIN;
  const body = long ? Readable.from(jsonPieces(answer)) : jsonOf(answer);
  return reply.type('application/json; charset=utf-8').send(body);
}
