import { createHash } from 'node:crypto';

export interface TunedWeights {
  /** SHA-256 of the bytes of theta, lower-case hex: the digest of the tuned model. */
  readonly digest: string;
  /** In shared memory, so that inference threads use it without a copy. Immutable. */
  readonly theta: Float32Array<SharedArrayBuffer>;
}

/** The stored form of theta: float32, little-endian. */
export function bytesOfWeights(theta: Float32Array): Uint8Array {
  return new Uint8Array(theta.buffer, theta.byteOffset, theta.byteLength);
}

/** Copies theta, or its bytes, to shared memory. */
export function shareWeights(weights: Float32Array | Uint8Array): TunedWeights {
  const bytes = new Uint8Array(weights.buffer, weights.byteOffset, weights.byteLength);
  const theta = new Float32Array(new SharedArrayBuffer(bytes.byteLength));
  new Uint8Array(theta.buffer).set(bytes);
  return { digest: createHash('sha256').update(bytes).digest('hex'), theta };
}

/** Cached weights of all models; 128 MiB for tsmodel-1. */
const WEIGHTS_MAX = 34;

/** A least-recently-used cache of `weightsMax` weights. */
export class WeightsCache {
  readonly #weightsMax: number;
  /** Least recently used first. */
  readonly #cached = new Map<string, Promise<TunedWeights>>();

  constructor(weightsMax = WEIGHTS_MAX) {
    this.#weightsMax = weightsMax;
  }

  /**
   * @param read returns the bytes of the weights of this digest. Concurrent calls share one read; a failed read is not
   * cached.
   */
  get(digest: string, read: () => Promise<Uint8Array>): Promise<TunedWeights> {
    const known = this.#cached.get(digest) ?? read().then(shareWeights);
    this.#cached.delete(digest);
    this.#cached.set(digest, known);
    known.catch(() => this.#cached.delete(digest));
    for (const oldest of this.#cached.keys()) {
      if (this.#cached.size <= this.#weightsMax) break;
      this.#cached.delete(oldest);
    }
    return known;
  }
}
