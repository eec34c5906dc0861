import { type DecodeOptions, decodeRecords, pickHeaders } from '../batch/record-batch-decoder.ts';
import type { InputRecord, SkippedRange } from '../batch/records.ts';

/** As in Kafka. */
const NO_TIMESTAMP = -1;

/** Names of headers that are delivered with records, or all of them as bytes. */
export type DeliveredHeaders = readonly string[] | 'raw';

interface InputSource extends DecodeOptions {
  readonly partition: number;
}

/** The records of fetched bytes, with those of their headers that are to be passed on. Keys and values are views. */
export function decodeInput(
  bytes: Buffer,
  { partition, ...options }: InputSource,
  headers: DeliveredHeaders,
): InputRecord[] {
  const records: InputRecord[] = [];
  decodeRecords(bytes, options, (offset, timestampMs, key, value, readHeaders, rawHeaders) => {
    const record = { partition, offset, timestampMs, key, value };
    if (headers === 'raw') {
      records.push({ ...record, rawHeaders: rawHeaders() });
      return;
    }
    const passed = headers.length === 0 ? null : pickHeaders(readHeaders(), headers);
    records.push(passed === null ? record : { ...record, headers: passed });
  });
  return records;
}

/** Stands for offsets that cannot be read any more. Reading continues at `nextOffset`. */
export function recordOfSkipped(partition: number, nextOffset: number, skipped: SkippedRange): InputRecord {
  return { partition, offset: nextOffset - 1, timestampMs: NO_TIMESTAMP, key: null, value: null, skipped };
}
