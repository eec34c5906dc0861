import type { Readable, Transform } from 'node:stream';
import { createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { HttpProblem, overloaded } from './problem.ts';

/** The maximum body size of public clients, uncompressed. */
export const BODY_BYTES_MAX = 200 * 1024 * 1024;
/** Memory of all bodies together, uncompressed. Beyond it requests get 503. */
const BODIES_BYTES_MAX = 3 * BODY_BYTES_MAX;

const INFLATED_CHUNK_BYTES = 64 * 1024;

const INFLATORS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip({ chunkSize: INFLATED_CHUNK_BYTES }),
  'x-gzip': () => createGunzip({ chunkSize: INFLATED_CHUNK_BYTES }),
  deflate: () => createInflate({ chunkSize: INFLATED_CHUNK_BYTES }),
  zstd: () => createZstdDecompress({ chunkSize: INFLATED_CHUNK_BYTES }),
};

/** Accounts for the memory of request bodies. */
export class BodyBudget {
  readonly bytesMax: number;
  held = 0;

  constructor(bytesMax: number = BODIES_BYTES_MAX) {
    this.bytesMax = bytesMax;
  }

  /** Returns false when the budget does not suffice. */
  take(bytes: number): boolean {
    if (this.held + bytes > this.bytesMax) return false;
    this.held += bytes;
    return true;
  }

  release(bytes: number): void {
    this.held -= bytes;
  }
}

interface BodyReading {
  /** The `Content-Encoding` of the request. */
  readonly encoding: string | undefined;
  readonly budget: BodyBudget;
  readonly bytesMax?: number;
}

/**
 * Reads and decompresses a body within limits. Beyond `bytesMax` it throws 413, without budget 503, for an unknown
 * encoding 415, for damaged data 400. The returned bytes stay taken from the budget; the caller releases them.
 */
export async function readBytes(
  payload: Readable,
  { encoding, budget, bytesMax = BODY_BYTES_MAX }: BodyReading,
): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase() || 'identity';
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
  let bytes = 0;
  try {
    for await (const chunk of source.iterator({ destroyOnReturn: false })) {
      if (bytes + chunk.length > bytesMax) throw bodyTooLarge(bytesMax);
      if (!budget.take(chunk.length)) throw overloaded('Too many large requests at once, try again');
      bytes += chunk.length;
      chunks.push(chunk);
    }
  } catch (error) {
    budget.release(bytes);
    payload.unpipe();
    inflator?.destroy();
    payload.resume();
    if (error instanceof HttpProblem) throw error;
    throw new HttpProblem(400, `The body cannot be read as ${name}: ${(error as Error).message}`);
  }
  return Buffer.concat(chunks, bytes);
}

export function bodyTooLarge(bytesMax: number): HttpProblem {
  const text = `The body is larger than ${bytesMax} bytes (uncompressed); send the series in several requests`;
  return new HttpProblem(413, text, { headers: { connection: 'close' } });
}
