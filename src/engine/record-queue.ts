import type { InputRecord } from './log/log.ts';

export class RecordQueue {
  #batches: (readonly InputRecord[])[] = [];
  /** Number of records of the first batch that were taken already. */
  #taken = 0;
  length = 0;
  /** Bytes of keys and values. */
  bytes = 0;

  get headMs(): number | null {
    return this.#batches[0]?.[this.#taken].timestampMs ?? null;
  }

  accept(records: readonly InputRecord[]): void {
    if (records.length === 0) return;
    this.#batches.push(records);
    this.length += records.length;
    for (const record of records) this.bytes += bytesOf(record);
  }

  /**
   * Takes the oldest records: at most `max`, and none after `bytesMax` is reached or behind one whose time is after
   * `untilMs`, but at least one when there is any. Never takes records of two batches at once.
   */
  pop(max: number, bytesMax: number, untilMs = Number.POSITIVE_INFINITY): readonly InputRecord[] {
    const batch = this.#batches[0];
    if (batch === undefined) return [];
    const last = Math.min(batch.length, this.#taken + max);
    let end = this.#taken;
    let bytes = 0;
    do bytes += bytesOf(batch[end++]);
    while (end < last && bytes < bytesMax && batch[end].timestampMs <= untilMs);
    const taken = batch.slice(this.#taken, end);
    this.#taken = end;
    this.length -= taken.length;
    this.bytes -= bytes;
    if (end === batch.length) {
      this.#batches.shift();
      this.#taken = 0;
    }
    return taken;
  }

  clear(): void {
    this.#batches = [];
    this.#taken = 0;
    this.length = 0;
    this.bytes = 0;
  }
}

function bytesOf({ key, value }: InputRecord): number {
  return (key?.length ?? 0) + (value?.length ?? 0);
}
