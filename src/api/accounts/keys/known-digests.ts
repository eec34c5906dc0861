/** Digests are not read again for this long: secrets of other processes are known within it. */
const DIGESTS_CACHED_MS = 2_000;

/**
 * The digests of all secrets of a kind. An address that has tried too many unknown ones is answered from them, so that
 * its valid secrets are accepted, and further guesses cost the store nothing.
 */
export class KnownDigests {
  readonly #read: () => Promise<readonly Uint8Array[]>;
  readonly #nowMs: () => number;
  #digests: ReadonlySet<string> = new Set();
  #readMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  constructor(read: () => Promise<readonly Uint8Array[]>, nowMs: () => number) {
    this.#read = read;
    this.#nowMs = nowMs;
  }

  async has(digest: Uint8Array): Promise<boolean> {
    if (this.#nowMs() - this.#readMs >= DIGESTS_CACHED_MS) {
      this.#reading ??= this.#readAll().finally(() => {
        this.#reading = null;
      });
      await this.#reading;
    }
    return this.#digests.has(textOf(digest));
  }

  /** Secrets have changed in this process: the next lookup reads the digests again. */
  forget(): void {
    this.#readMs = Number.NEGATIVE_INFINITY;
  }

  async #readAll(): Promise<void> {
    const readMs = this.#nowMs();
    this.#digests = new Set((await this.#read()).map(textOf));
    this.#readMs = readMs;
  }
}

function textOf(digest: Uint8Array): string {
  return Buffer.from(digest).toString('base64');
}
