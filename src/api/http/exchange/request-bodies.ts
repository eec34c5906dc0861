import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { constants, zstdCompress as zstd } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import type { BodyBudget } from '../../wire/body/body-budget.ts';
import { bodyName, bodyRules, KEPT_BODIES } from '../../wire/body/body-schemas.ts';
import type { BodyThreads } from '../../wire/body/body-threads.ts';
import { HeldBody } from '../../wire/body/held-body.ts';
import { bodyTooLarge, contentCoding, readBytes, type TransferRate } from '../../wire/body/read-bytes.ts';
import { readWireBody } from '../../wire/body/wire-body.ts';
import { HttpProblem, invalidRequest } from '../../wire/problem.ts';
import type { App } from './app-services.ts';
import { noteBody } from './idempotency.ts';
import { callerOf } from './require-key.ts';
import { rulesOf } from './route-rules.ts';

/** Numbers in JSON gain little from trying harder. */
const KEPT_LEVEL = 1;
const zstdCompress = promisify(zstd);
const kept = new WeakMap<FastifyRequest, Buffer>();

/** The received body of a job, compressed with zstd. */
export function keptBody(request: FastifyRequest): Buffer {
  const bytes = kept.get(request);
  assert(bytes !== undefined, 'the bodies of jobs are kept');
  return bytes;
}

/** Encoding of remote write. The receiver of the bytes inflates it, within a limit of its own. */
export const SNAPPY = 'snappy';

export const codingOf = ({ headers }: FastifyRequest) => contentCoding(headers['content-encoding']);

/** Smaller bodies are parsed faster than they are handed to a thread. */
const INLINE_BYTES_MAX = 128 * 1024;

interface BodyParts {
  readonly budget: BodyBudget;
  readonly rate: TransferRate;
  /** Closed with the application. */
  readonly threads: BodyThreads;
}

/**
 * Parses JSON bodies, plain or compressed, against schema and limit of the route. Routes without them ignore the body.
 * The budget of a body is released when its request ends.
 */
export function acceptBodies(app: App, { budget, rate, threads }: BodyParts): void {
  const held = new WeakMap<FastifyRequest, HeldBody>();
  app.addHook('onClose', () => threads.close());
  app.removeAllContentTypeParsers();
  /** null if the route takes no body. */
  const bytesOf = async (request: FastifyRequest, payload: IncomingMessage): Promise<Buffer | null> => {
    const { bodyBytesMax: bytesMax, rawBody = null } = rulesOf(request) ?? { bodyBytesMax: null };
    if (bytesMax === null) {
      payload.resume();
      return null;
    }
    const { 'content-length': length, 'content-encoding': given } = request.headers;
    if (Number(length) > bytesMax) throw bodyTooLarge(bytesMax);
    const { id: keyId } = callerOf(request).key;
    const encoding = rawBody === 'points' && codingOf(request) === SNAPPY ? undefined : given;
    const declared = length === undefined ? undefined : Number(length);
    const bytes = await readBytes(payload, { encoding, budget, keyId, rate, bytesMax, length: declared });
    held.get(request)?.hold(keyId, bytes.length);
    return bytes;
  };
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) => {
    const rules = rulesOf(request);
    // Whatever is sent to an unknown path is skipped, so that its answer is not about the type of the body.
    if (rules === null || rules.rawBody !== undefined) return bytesOf(request, payload);
    payload.resume();
    throw new HttpProblem(415, 'Unsupported Media Type');
  });
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) => {
    const bytes = await bytesOf(request, payload);
    const schema = request.routeOptions.schema?.body as TSchema | undefined;
    if (schema === undefined || bytes === null) return bytes ?? undefined;
    const { owner } = callerOf(request).key;
    const { length } = bytes;
    if (length === 0) return undefined;
    const name = bodyName(schema);
    noteBody(request, bytes);
    // Before parsing: the buffer of a large body is transferred to the thread.
    if (KEPT_BODIES.has(schema))
      kept.set(request, await zstdCompress(bytes, { params: { [constants.ZSTD_c_compressionLevel]: KEPT_LEVEL } }));
    const small = length <= INLINE_BYTES_MAX;
    const reading = small ? readWireBody(bytes, bodyRules(name)) : await threads.read(owner, bytes, name);
    switch (reading.kind) {
      case 'body':
        return reading.body;
      case 'not-json':
        throw new HttpProblem(400, `The body is no JSON: ${reading.reason}`);
      case 'invalid':
        throw invalidRequest(reading.problems);
    }
  });
  // On `close`, since an aborted answer never finishes.
  app.addHook('onRequest', async (request, reply) => {
    const body = new HeldBody(budget);
    held.set(request, body);
    reply.raw.once('close', () => body.end());
  });
}
