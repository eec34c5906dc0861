import type { FastifyReply } from 'fastify';
import { HttpProblem } from '../../wire/problem.ts';

/** Nobody reads this answer; the log tells it from a failure of ours. */
const CLIENT_GONE = 499;

/** Aborts when the connection ends before the answer was written: nobody waits for the work any more. */
export function clientGone(reply: Pick<FastifyReply, 'raw'>): AbortSignal {
  const gone = new AbortController();
  const { raw } = reply;
  raw.once('close', () => {
    if (!raw.writableEnded) gone.abort(new HttpProblem(CLIENT_GONE, 'the client hung up'));
  });
  return gone.signal;
}
