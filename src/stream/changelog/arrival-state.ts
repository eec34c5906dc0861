import { readHeaders, writeHeaders } from './record-headers.ts';
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
    readonly headers?: Readonly<Record<string, string>>;
  };
}

/** What a unit knows of the times of its records. */
export interface ArrivalState {
  /** Newest event time of any record that was not held; NaN before the first. */
  readonly arrivedMs: number;
  /** Records that wait for confirmation, in the order of their offsets. */
  readonly held: readonly HeldRecord[];
  /** Records that wait for older ones, by event time. */
  readonly buffered: readonly HeldRecord[];
  /** Newest event time of any record that did not wait: `arrivedMs` where none does. */
  readonly takenMs?: number;
  /** Event time of the partition at the newest record of a series that was far behind it; -Infinity for others. */
  readonly heardMs?: number;
  /** Whether it was said that the series is silent. */
  readonly silent: boolean;
}

export const NO_HELD: readonly never[] = [];

const SILENT_FLAG = 1;
const BEHIND_FLAG = 2;

export function writeArrivals(writer: StateWriter, arrivals: ArrivalState): void {
  const { arrivedMs, takenMs, heardMs = Number.NEGATIVE_INFINITY, held, buffered, silent } = arrivals;
  const isBehind = heardMs !== Number.NEGATIVE_INFINITY;
  writer.number(arrivedMs);
  writer.u8((silent ? SILENT_FLAG : 0) | (isBehind ? BEHIND_FLAG : 0));
  if (isBehind) writer.number(heardMs);
  writeRecords(writer, held);
  writeRecords(writer, buffered);
  if (buffered.length > 0) writer.number(takenMs ?? Number.NaN);
}

function writeRecords(writer: StateWriter, records: readonly HeldRecord[]): void {
  writer.u8(records.length);
  for (const { series, timestampMs, value, record } of records) {
    writer.text(series);
    writer.number(timestampMs);
    writer.number(value);
    writer.number(record.offset);
    writer.number(record.timestampMs);
    writer.blob(record.key);
    writer.blob(record.value);
    writeHeaders(writer, record.headers);
  }
}

/** Formats before 3 held nothing, and did not keep the time of the newest record. */
export function readArrivals(reader: StateReader): ArrivalState {
  const unknown = Number.NaN;
  if (reader.format < 3) {
    return {
      arrivedMs: unknown,
      takenMs: unknown,
      heardMs: Number.NEGATIVE_INFINITY,
      held: NO_HELD,
      buffered: NO_HELD,
      silent: false,
    };
  }
  const [arrivedMs, flags] = [reader.number(), reader.u8()];
  const heardMs = (flags & BEHIND_FLAG) !== 0 ? reader.number() : Number.NEGATIVE_INFINITY;
  const silent = (flags & SILENT_FLAG) !== 0;
  const [held, buffered] = [readRecords(reader), readRecords(reader)];
  const takenMs = buffered.length > 0 ? reader.number() : arrivedMs;
  return { arrivedMs, takenMs, heardMs, held, buffered, silent };
}

function readRecords(reader: StateReader): readonly HeldRecord[] {
  const count = reader.u8();
  if (count === 0) return NO_HELD;
  return Array.from({ length: count }, (): HeldRecord => {
    const [series, timestampMs, value] = [reader.text(), reader.number(), reader.number()];
    const record = { offset: reader.number(), timestampMs: reader.number(), key: reader.blob(), value: reader.blob() };
    return { series, timestampMs, value, record: { ...record, ...readHeaders(reader) } };
  });
}
