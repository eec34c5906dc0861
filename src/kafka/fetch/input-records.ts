import { type DecodeOptions, decodeRecords } from '../batch/record-batch-decoder.ts';
import type { InputRecord, RecordHeaders, SkippedRange } from '../batch/records.ts';

/** As in Kafka. */
const NO_TIMESTAMP = -1;

export interface DeliveredHeaders {
  /** Those with these names. */
  readonly names: readonly string[];
  /** All of them as bytes, too. */
  readonly raw: boolean;
}

export const NO_HEADERS: DeliveredHeaders = { names: [], raw: false };

const NONE: RecordHeaders = [];

/** The records of fetched bytes, with those of their headers that are to be passed on. Keys and values are views. */
export function decodeInput(
  bytes: Buffer,
  { partition, ...options }: DecodeOptions & { readonly partition: number },
  { names, raw }: DeliveredHeaders,
): InputRecord[] {
  const records: InputRecord[] = [];
  decodeRecords(bytes, options, (offset, timestampMs, key, value, readHeaders, rawHeaders) => {
    const record = { partition, offset, timestampMs, key, value };
    const all = names.length === 0 ? NONE : readHeaders();
    const headers = all.length === 0 ? NONE : all.filter(([name]) => names.includes(name));
    if (raw) records.push({ ...record, headers, rawHeaders: rawHeaders() });
    else records.push(headers.length === 0 ? record : { ...record, headers });
  });
  return records;
}

/** Represents offsets that cannot be read any more. Reading continues at `nextOffset`. */
export function recordOfSkipped(partition: number, nextOffset: number, skipped: SkippedRange): InputRecord {
  return { partition, offset: nextOffset - 1, timestampMs: NO_TIMESTAMP, key: null, value: null, skipped };
}
