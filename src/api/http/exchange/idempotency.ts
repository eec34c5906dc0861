import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Idempotency } from '../../../store/jobs/jobs.ts';
import { HttpProblem } from '../../wire/problem.ts';

const KEY_LENGTH_MAX = 255;
/** `Retry-After` of a request whose first sending is not answered yet. */
const RETRY_AFTER_S = 5;

/** @param repeated what a repeated request gets */
export function idempotencyHeaders(repeated: string) {
  return Type.Object({
    'idempotency-key': Type.Optional(
      Type.String({ minLength: 1, maxLength: KEY_LENGTH_MAX, description: `A repeated request gets ${repeated}.` }),
    ),
  });
}

const digests = new WeakMap<FastifyRequest, string>();

/** Notes the digest of a body that was sent with an `Idempotency-Key`. */
export function noteBody(request: FastifyRequest, bytes: Uint8Array): void {
  if (typeof request.headers['idempotency-key'] !== 'string') return;
  digests.set(request, createHash('sha256').update(`${request.url}\n`).update(bytes).digest('hex'));
}

/** The key of a request, with the digest of path and body; null without a key. */
export function idempotencyOf(request: FastifyRequest): Idempotency | null {
  const key = request.headers['idempotency-key'];
  const digest = digests.get(request);
  return typeof key === 'string' && digest !== undefined ? { key, digest } : null;
}

/** The first request of this key is not answered yet. Clients retry this status. */
export function stillRunning(): HttpProblem {
  const text = 'The first request under this Idempotency-Key is not answered yet';
  return new HttpProblem(409, text, { headers: { 'retry-after': String(RETRY_AFTER_S) } });
}
