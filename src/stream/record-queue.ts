import type { InputRecord } from './log.ts';

/** Records of one partition that wait to be scored. */
export class RecordQueue {
  #batches: (readonly InputRecord[])[] = [];
  /** Records of the first batch that were taken already. */
  #taken = 0;
  length = 0;

  push(records: readonly InputRecord[]): void {
    if (records.length === 0) return;
    this.#batches.push(records);
    this.length += records.length;
  }

  /** The oldest records, at most `max` and at least one when there is any; a batch is never joined with the next. */
  take(max: number): readonly InputRecord[] {
    const batch = this.#batches[0];
    if (batch === undefined) return [];
    const taken = batch.slice(this.#taken, this.#taken + max);
    this.#taken += taken.length;
    this.length -= taken.length;
    if (this.#taken === batch.length) {
      this.#batches.shift();
      this.#taken = 0;
    }
    return taken;
  }

  clear(): void {
    this.#batches = [];
    this.#taken = 0;
    this.length = 0;
  }
}
