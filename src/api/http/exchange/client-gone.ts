import type { FastifyReply } from 'fastify';
import { HttpProblem } from '../../wire/problem.ts';

/** Logged and counted for requests whose client disconnected before the answer was written (as nginx does). */
export const CLIENT_GONE = 499;

/** Aborts when the client disconnects before the answer is written. */
export function clientGone(reply: Pick<FastifyReply, 'raw'>): AbortSignal {
  const gone = new AbortController();
  const { raw } = reply;
  raw.once('close', () => {
    if (!raw.writableEnded) gone.abort(new HttpProblem(CLIENT_GONE, 'the client disconnected'));
  });
  return gone.signal;
}
