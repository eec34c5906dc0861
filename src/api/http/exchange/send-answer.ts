import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Turns } from '../../../sandbox/turns.ts';
import type { KeyStanding } from '../../../store/ledger/credits.ts';
import { charged, type Work } from '../../accounts/metering.ts';
import { rateLimitHeaders } from '../../accounts/rate-limit.ts';
import { tokenSum } from '../../accounts/token-count.ts';
import { jsonOf, jsonPieces, numbersIn } from '../../wire/wire-answer.ts';
import type { AppServices } from './app-services.ts';
import { clientGone } from './client-gone.ts';
import { callerOf, noteAdmitted } from './require-key.ts';
import { rulesOf } from './route-rules.ts';

/**
 * Larger answers are streamed. As one text they would need their memory and time at once, and the longest exceed the
 * length of a string.
 */
const STREAMED_NUMBERS_MIN = 100_000;

/**
 * Requests of more tokens count as large. Few of one owner run at once: more of them would not end earlier, and between
 * any two steps of a small request the steps of all running ones have their turn.
 */
const LARGE_TOKENS_MIN = 20_000;
const LARGE_AT_ONCE_MAX = 2;

export const largeWorkSlots = () => new Turns({ places: Number.POSITIVE_INFINITY, ofOwner: LARGE_AT_ONCE_MAX });

/** Warn-code 299 of RFC 7234: miscellaneous persistent warning. */
const PERSISTENT = 299;

/** Sends the warning of a task with any answer. */
export function warn(reply: FastifyReply, { warning }: Work): void {
  if (warning) reply.header('warning', `${PERSISTENT} tidewatch "${warning}"`);
}

interface Exchange {
  readonly services: Pick<AppServices, 'calls' | 'largeWork'>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Runs the work of a request, charges it, and sends the answer. A handler returns what this returns. */
export async function answerWith(exchange: Exchange, work: Work): Promise<FastifyReply> {
  warn(exchange.reply, work);
  const answer = await chargedAnswer(exchange, work);
  const long = numbersIn(answer) >= STREAMED_NUMBERS_MIN;
  const body = long ? Readable.from(jsonPieces(answer)) : jsonOf(answer);
  return exchange.reply.type('application/json; charset=utf-8').send(body);
}

/** Runs the work of a request and charges it. The answer may be sent. */
export async function chargedAnswer<A extends object>(
  { services, request, reply }: Exchange,
  work: Work<A>,
): Promise<A> {
  const { calls, largeWork } = services;
  const caller = callerOf(request);
  const onAdmitted = (standing: KeyStanding) => {
    noteAdmitted(request);
    reply.headers(rateLimitHeaders(standing));
  };
  const waits = rulesOf(request)?.queue === 'owner' && tokenSum(work.tokens) >= LARGE_TOKENS_MIN;
  const run = (signal: AbortSignal) =>
    waits ? largeWork.run(caller.key.owner, signal, () => work.run(signal)) : work.run(signal);
  return charged({ calls, caller, signal: clientGone(reply), onAdmitted }, { ...work, run });
}
