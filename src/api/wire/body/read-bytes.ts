import type { Readable, Transform } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { HttpProblem, overloaded } from '../problem.ts';
import type { BodyBudget } from './body-budget.ts';

/** The maximum body size of public clients, uncompressed. */
export const BODY_BYTES_MAX = 200 * 1024 * 1024;
/** Memory of all bodies together, uncompressed. Beyond it requests get 503. */
export const BODIES_BYTES_MAX = 4 * BODY_BYTES_MAX;

const INFLATED_CHUNK_BYTES = 64 * 1024;

const INFLATORS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip({ chunkSize: INFLATED_CHUNK_BYTES }),
  'x-gzip': () => createGunzip({ chunkSize: INFLATED_CHUNK_BYTES }),
  deflate: () => createInflate({ chunkSize: INFLATED_CHUNK_BYTES }),
  // What the OpenTelemetry Collector calls deflate.
  zlib: () => createInflate({ chunkSize: INFLATED_CHUNK_BYTES }),
  zstd: () => createZstdDecompress({ chunkSize: INFLATED_CHUNK_BYTES }),
};

/** The slowest sender that is accepted. */
export const TRANSFER_RATE = {
  /** Bytes as they are sent, compressed or not, in each period. */
  bytesMin: 64 * 1024,
  periodMs: 10_000,
};
export type TransferRate = Readonly<typeof TRANSFER_RATE>;

/** The coding of a body (RFC 9110, 8.4): a list without its empty members, in any case; more than one stay a list. */
export function contentCoding(header: string | undefined): string {
  const codings = (header ?? '').toLowerCase().split(',');
  const named = codings.map((each) => each.trim()).filter((each) => each !== '' && each !== 'identity');
  return named.join() || 'identity';
}

interface BodyReading {
  /** The `Content-Encoding` of the request. */
  readonly encoding: string | undefined;
  readonly budget: BodyBudget;
  /** The key whose share of the budget the body takes. */
  readonly keyId: string;
  readonly bytesMax: number;
  /** The declared length of a body that is not compressed, where there is one. */
  readonly length?: number | undefined;
  readonly rate?: TransferRate;
}

/**
 * Reads and decompresses a body within limits. Beyond `bytesMax` it throws 413, without budget 503, for an unknown
 * encoding 415, for damaged data 400, for a slow sender 408. The returned bytes stay reserved in the budget; the caller
 * releases them.
 */
export async function readBytes(
  payload: Readable,
  { encoding, budget, keyId, bytesMax, length, rate = TRANSFER_RATE }: BodyReading,
): Promise<Buffer> {
  const name = contentCoding(encoding);
  if (name !== 'identity' && !Object.hasOwn(INFLATORS, name)) {
    payload.resume();
    throw new HttpProblem(415, `Content-Encoding must be gzip, deflate or zstd, got ${name.slice(0, 40)}`, {
      headers: { 'accept-encoding': 'gzip, deflate, zstd' },
    });
  }
  const inflator = name === 'identity' ? null : INFLATORS[name]();
  // Not a pipeline: a pipeline would destroy the request, and the client could not read the answer.
  const source: Readable = inflator === null ? payload : payload.pipe(inflator);
  payload.once('aborted', () => inflator?.destroy());
  const chunks: Buffer[] = [];
  let whole: Buffer | null = null;
  let bytes = 0;
  try {
    for await (const chunk of untilTooSlow(payload, source, rate)) {
      if (bytes + chunk.length > bytesMax) throw bodyTooLarge(bytesMax);
      if (!budget.reserve(keyId, chunk.length)) throw overloaded('Too many large requests at once, try again');
      // In place: chunks and the whole would take the memory twice. A length alone, without bytes, reserves nothing.
      if (whole === null && inflator === null && length !== undefined && bytes >= SLICE_BYTES) {
        whole = Buffer.allocUnsafeSlow(length);
        Buffer.concat(chunks.splice(0)).copy(whole);
      }
      if (whole === null) chunks.push(chunk);
      else chunk.copy(whole, bytes);
      bytes += chunk.length;
    }
  } catch (error) {
    budget.release(keyId, bytes);
    payload.unpipe();
    inflator?.destroy();
    payload.resume();
    if (error instanceof HttpProblem) throw error;
    throw new HttpProblem(400, `The body cannot be read as ${name}: ${(error as Error).message}`);
  }
  // Whatever was declared, no byte is shown that was not sent.
  return whole?.subarray(0, bytes) ?? joinedInSlices(chunks, bytes);
}

/** Bytes that are copied before other requests have a turn: about a millisecond. */
const SLICE_BYTES = 4 * 1024 * 1024;

async function joinedInSlices(chunks: Buffer[], bytes: number): Promise<Buffer> {
  if (bytes <= SLICE_BYTES) return Buffer.concat(chunks, bytes);
  const whole = Buffer.allocUnsafeSlow(bytes);
  let [at, rested] = [0, 0];
  for (const chunk of chunks) {
    chunk.copy(whole, at);
    at += chunk.length;
    if (at - rested < SLICE_BYTES) continue;
    rested = at;
    await nextTurn();
  }
  return whole;
}

export function bodyTooLarge(bytesMax: number): HttpProblem {
  const text = `The body is larger than ${bytesMax} bytes (uncompressed)`;
  const remedy = bytesMax === BODY_BYTES_MAX ? '; send the series in several requests' : '';
  return new HttpProblem(413, `${text}${remedy}`, { headers: { connection: 'close' } });
}

/** The chunks of a body, as long as its sender keeps the rate. */
async function* untilTooSlow(
  payload: Readable,
  source: Readable,
  { bytesMin, periodMs }: TransferRate,
): AsyncGenerator<Buffer> {
  const { promise: tooSlow, reject } = Promise.withResolvers<never>();
  tooSlow.catch(() => {});
  let sent = 0;
  // Bytes as they are sent: of a compressed body not those that it grows to.
  if (source !== payload) payload.on('data', (chunk: Buffer) => (sent += chunk.length));
  const watch = setInterval(() => {
    const text = `The body arrives too slowly: less than ${bytesMin} bytes in ${periodMs / 1_000} seconds`;
    if (sent < bytesMin && !payload.readableEnded) reject(new HttpProblem(408, text));
    sent = 0;
  }, periodMs);
  const chunks = source.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      const { done, value } = await Promise.race([chunks.next(), tooSlow]);
      if (done === true) return;
      if (source === payload) sent += value.length;
      yield value;
    }
  } finally {
    clearInterval(watch);
  }
}
