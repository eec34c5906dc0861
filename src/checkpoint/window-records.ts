/**
 * Closed windows are kept up to this size while the changelog is read, until the open states are known. Beyond it they
 * are dropped, and the changelog is read a second time.
 */
const WINDOWS_BYTES_MAX = 256 * 1024 * 1024;
/** What a buffer, its key and its place in a map take. */
const ENTRY_BYTES = 250;

/** The newest record of each closed window, in the order in which they were first seen. */
export class WindowRecords {
  readonly #records = new Map<string, Buffer>();
  readonly #bytesMax: number;
  #bytes = 0;
  /** Whether they were too large to be kept. */
  overflowed = false;
  /** True if there were any. */
  any = false;

  constructor(bytesMax = WINDOWS_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** `value` may be a view: it is copied. null deletes. */
  keep(key: Buffer, value: Buffer | null): void {
    this.any = true;
    if (this.overflowed) return;
    const name = key.toString('utf8');
    const earlier = this.#records.get(name);
    if (value === null) {
      if (earlier !== undefined) this.#bytes -= earlier.length + ENTRY_BYTES;
      this.#records.delete(name);
      return;
    }
    this.#bytes += value.length - (earlier?.length ?? -ENTRY_BYTES);
    this.#records.set(name, Buffer.from(value));
    this.overflowed = this.#bytes > this.#bytesMax;
    if (this.overflowed) this.#records.clear();
  }

  /** Calls back for each, and forgets it. */
  drain(onWindow: (key: Buffer, value: Buffer) => void): void {
    for (const [name, value] of this.#records) {
      this.#records.delete(name);
      onWindow(Buffer.from(name), value);
    }
  }
}
