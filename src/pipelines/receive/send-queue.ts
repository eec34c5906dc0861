import type { KeyedRecord } from '../../codecs/points/point-records.ts';
import { ServiceError } from '../../ops/service-error.ts';

/** Records of one send, so that none waits long behind another body. */
const SEND_RECORDS_MAX = 20_000;

interface SendQueueOptions {
  /** Resolves once every in-sync replica has the records. */
  send(records: readonly KeyedRecord[]): Promise<void>;
  /** Keys and values that wait or are being sent; beyond it a body is refused. */
  readonly bytesMax: number;
}

interface WaitingSend {
  readonly records: readonly KeyedRecord[];
  readonly bytes: number;
  resolve(): void;
  reject(error: unknown): void;
}

/** Sends the records of several bodies together, one send after the other, so that the order of a series stays. */
export class SendQueue {
  readonly #options: SendQueueOptions;
  #waiting: WaitingSend[] = [];
  #bytes = 0;
  #sending: Promise<void> | null = null;

  constructor(options: SendQueueOptions) {
    this.#options = options;
  }

  /** Resolves once the records are written. Rejects with `overloaded`, or as `send` does. */
  add(records: readonly KeyedRecord[]): Promise<void> {
    if (records.length === 0) return Promise.resolve();
    const bytes = records.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
    if (this.#bytes > 0 && this.#bytes + bytes > this.#options.bytesMax) {
      return Promise.reject(new ServiceError('overloaded', 'too many points wait for Kafka', { retryable: true }));
    }
    this.#bytes += bytes;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ records, bytes, resolve, reject });
    this.#sending ??= this.#sendAll();
    return promise;
  }

  /** Resolves once nothing waits any more. */
  async settled(): Promise<void> {
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const bodies = this.#popSome();
      try {
        await this.#options.send(bodies.flatMap(({ records }) => records));
        for (const { resolve } of bodies) resolve();
      } catch (error) {
        for (const { reject } of bodies) reject(error);
      }
      for (const { bytes } of bodies) this.#bytes -= bytes;
    }
    this.#sending = null;
  }

  /** At least one body. */
  #popSome(): WaitingSend[] {
    let [count, records] = [0, 0];
    while (count < this.#waiting.length && (count === 0 || records < SEND_RECORDS_MAX)) {
      records += this.#waiting[count].records.length;
      count++;
    }
    return this.#waiting.splice(0, count);
  }
}
