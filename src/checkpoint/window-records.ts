/**
 * Closed windows are kept up to this size while changelogs are read, until the open states are known: those of all
 * partitions that a process restores at the same time. A partition that exceeds it drops its own, and reads its
 * changelog a second time.
 */
const WINDOWS_BYTES_MAX = 256 * 1024 * 1024;
const OF_PROCESS = { bytes: 0, bytesMax: WINDOWS_BYTES_MAX };
/** Memory of a buffer, its key and its place in a map. */
const ENTRY_BYTES = 250;

/** The newest record of each closed window, in the order in which they were first seen. */
export class WindowRecords {
  readonly #records = new Map<string, Buffer>();
  readonly #budget: typeof OF_PROCESS;
  #bytes = 0;
  /** True if they were too large to be kept. */
  overflowed = false;
  any = false;

  /** @param bytesMax a budget of its own; left out: that of the process */
  constructor(bytesMax?: number) {
    this.#budget = bytesMax === undefined ? OF_PROCESS : { bytes: 0, bytesMax };
  }

  /** `value` may be a view: it is copied. null deletes. */
  keep(key: Buffer, value: Buffer | null): void {
    this.any = true;
    if (this.overflowed) return;
    const name = key.toString('utf8');
    const earlier = this.#records.get(name);
    if (value === null) {
      if (earlier !== undefined) this.#take(-earlier.length - ENTRY_BYTES);
      this.#records.delete(name);
      return;
    }
    this.#take(value.length - (earlier?.length ?? -ENTRY_BYTES));
    this.#records.set(name, Buffer.from(value));
    this.overflowed = this.#budget.bytes > this.#budget.bytesMax;
    if (this.overflowed) this.release();
  }

  /** Forgets all of them. The last call, also where the restore failed: others may use the room. */
  release(): void {
    this.#records.clear();
    this.#take(-this.#bytes);
  }

  #take(bytes: number): void {
    this.#bytes += bytes;
    this.#budget.bytes += bytes;
  }

  /** Calls back for each, and forgets it. */
  drain(onWindow: (key: Buffer, value: Buffer) => void): void {
    for (const [name, value] of this.#records) {
      this.#records.delete(name);
      onWindow(Buffer.from(name), value);
    }
  }
}
