import type { ChangelogSeries, DeltaLog, DeltaLogEntry, DeltaLogWrite } from '../../checkpoint/delta-log.ts';
import {
  encodePauses,
  encodePosition,
  type OpenPauses,
  PAUSES_KEY,
  POSITION_KEY,
  type StoredPosition,
} from '../../checkpoint/partition-records.ts';
import { closedWindowRecord } from '../../checkpoint/series/series-state.ts';
import type { OutputRecord } from '../log/log.ts';
import type { StateWrites } from '../unit/score-sink.ts';

/** The changes of the state of a partition that the next transaction writes. */
export class CheckpointWrites implements StateWrites {
  readonly #place: Pick<OutputRecord, 'topic' | 'partition'>;
  #records: OutputRecord[] = [];
  readonly #touched = new Set<DeltaLogEntry>();
  #evicted: DeltaLogEntry[] = [];
  /** null: they have not changed. */
  #pauses: OpenPauses | null = null;

  /** @param place of the records of the state */
  constructor(place: Pick<OutputRecord, 'topic' | 'partition'>) {
    this.#place = place;
  }

  /** True if there is a change without an input offset: the clock, or a backfill, has made it. */
  get any(): boolean {
    return this.#touched.size > 0 || this.#pauses !== null;
  }

  write(key: Buffer, value: Buffer | null): void {
    this.#records.push({ ...this.#place, key, value });
  }

  windowClosed(series: ChangelogSeries): void {
    const { key, value } = closedWindowRecord(series);
    this.write(key, value);
  }

  windowsWritten(writes: readonly DeltaLogWrite[]): void {
    for (const { key, value } of writes) this.write(key, value);
  }

  windowsDeleted(keys: readonly Buffer[]): void {
    for (const key of keys) this.write(key, null);
  }

  touched(unit: DeltaLogEntry): void {
    this.#touched.add(unit);
  }

  evicted(unit: DeltaLogEntry): void {
    this.#touched.delete(unit);
    this.#evicted.push(unit);
  }

  pausesChanged(pauses: OpenPauses): void {
    this.#pauses = pauses;
  }

  /** Returns the records of all changes, with the place in the input that they belong to. */
  drain(deltaLog: DeltaLog, position: StoredPosition): readonly OutputRecord[] {
    for (const unit of this.#evicted) deltaLog.forget(unit);
    const evictedKeys = this.#evicted.map(({ key }) => key);
    this.windowsWritten(deltaLog.write(this.#touched, evictedKeys));
    if (this.#pauses !== null) this.write(PAUSES_KEY, encodePauses(this.#pauses));
    this.write(POSITION_KEY, encodePosition(position));
    const records = this.#records;
    this.#touched.clear();
    [this.#records, this.#evicted, this.#pauses] = [[], [], null];
    return records;
  }
}
