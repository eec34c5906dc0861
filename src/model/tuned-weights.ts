import { createHash } from 'node:crypto';

/** Weights that were tuned from a model. */
export interface TunedWeights {
  /** SHA-256 of the bytes of theta, lower-case hex: the digest of the tuned model. */
  readonly digest: string;
  /** Shared, so that inference threads take it without a copy. Never changed. */
  readonly theta: Float32Array<SharedArrayBuffer>;
}

/** Theta as it is kept: float32, little-endian. */
export function bytesOfWeights(theta: Float32Array): Uint8Array {
  return new Uint8Array(theta.buffer, theta.byteOffset, theta.byteLength);
}

/** Puts theta, or its bytes, where inference threads can see it. */
export function shareWeights(weights: Float32Array | Uint8Array): TunedWeights {
  const bytes = new Uint8Array(weights.buffer, weights.byteOffset, weights.byteLength);
  const theta = new Float32Array(new SharedArrayBuffer(bytes.byteLength));
  new Uint8Array(theta.buffer).set(bytes);
  return { digest: createHash('sha256').update(bytes).digest('hex'), theta };
}

/** Weights in memory, of all models together: 128 MiB of tsmodel-1's. */
const WEIGHTS_MAX = 34;

/** Weights that were used lately; beyond `weightsMax` those that were not used for longest are forgotten, and read again when they are asked for. */
export class WeightsCache {
  readonly #weightsMax: number;
  /** In the order of their last use. */
  readonly #kept = new Map<string, Promise<TunedWeights>>();

  constructor(weightsMax = WEIGHTS_MAX) {
    this.#weightsMax = weightsMax;
  }

  /** @param read gives the bytes of weights with this digest; what it throws is thrown to all who wait, and not remembered */
  get(digest: string, read: () => Promise<Uint8Array>): Promise<TunedWeights> {
    const known = this.#kept.get(digest) ?? read().then(shareWeights);
    this.#kept.delete(digest);
    this.#kept.set(digest, known);
    known.catch(() => this.#kept.delete(digest));
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#weightsMax) break;
      this.#kept.delete(oldest);
    }
    return known;
  }
}
