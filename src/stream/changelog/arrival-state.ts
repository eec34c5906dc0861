import type { StateReader, StateWriter } from './state-bytes.ts';

/** A record whose time waits for confirmation, with the bytes of its dead letter. */
export interface HeldRecord {
  readonly series: string;
  readonly timestampMs: number;
  readonly value: number;
  readonly record: {
    readonly offset: number;
    readonly timestampMs: number;
    readonly key: Buffer | null;
    readonly value: Buffer | null;
  };
}

/** What a unit knows of the times of its records. */
export interface ArrivalState {
  /** Newest event time of any record that was not held; NaN before the first. */
  readonly arrivedMs: number;
  /** Records that wait for confirmation, in the order of their offsets. */
  readonly held: readonly HeldRecord[];
  /** Whether it was said that the series is silent. */
  readonly silent: boolean;
}

export const NO_HELD: readonly never[] = [];

export function writeArrivals(writer: StateWriter, { arrivedMs, held, silent }: ArrivalState): void {
  writer.f64(arrivedMs);
  writer.u8(silent ? 1 : 0);
  writer.u8(held.length);
  for (const { series, timestampMs, value, record } of held) {
    writer.text(series);
    writer.f64(timestampMs);
    writer.f64(value);
    writer.f64(record.offset);
    writer.f64(record.timestampMs);
    writer.blob(record.key);
    writer.blob(record.value);
  }
}

/** Formats before 3 held nothing, and did not keep the time of the newest record. */
export function readArrivals(reader: StateReader): ArrivalState {
  if (reader.format < 3) return { arrivedMs: Number.NaN, held: NO_HELD, silent: false };
  const arrivedMs = reader.f64();
  const silent = reader.u8() === 1;
  const count = reader.u8();
  if (count === 0) return { arrivedMs, held: NO_HELD, silent };
  const held = Array.from({ length: count }, (): HeldRecord => {
    const [series, timestampMs, value] = [reader.text(), reader.f64(), reader.f64()];
    const record = { offset: reader.f64(), timestampMs: reader.f64(), key: reader.blob(), value: reader.blob() };
    return { series, timestampMs, value, record };
  });
  return { arrivedMs, held, silent };
}
