import { decompress } from './compression.ts';
import { crc32c } from './crc32c.ts';
import {
  CODEC_MASK,
  CONTROL_FLAG,
  HEADER_BYTES,
  LENGTH_PREFIX_BYTES,
  LOG_APPEND_TIME_FLAG,
  MAGIC,
  TRANSACTIONAL_FLAG,
} from './record-batch-layout.ts';
import type { RecordHeaders } from './records.ts';
import { type ByteCursor, readVarint, readVarlong } from './varint.ts';

/** An aborted transaction, as a fetch response lists it. */
export interface AbortedTransaction {
  readonly producerId: number;
  readonly firstOffset: number;
}

/**
 * Called for each record; positional arguments, because an object for each record would cost too much. `key` and
 * `value` are views of the fetched bytes. `headers` decodes the record's headers, `rawHeaders` gives
 * their bytes; both work only during the call.
 */
export type RecordSink = (
  offset: number,
  timestampMs: number,
  key: Buffer | null,
  value: Buffer | null,
  headers: () => RecordHeaders,
  rawHeaders: () => Buffer,
) => void;

/** The offset after the last complete batch in `section`; null when there is none. */
export function endOffset(section: Buffer): number | null {
  let end: number | null = null;
  for (let at = 0; completeBatchAt(section, at); at = batchEnd(section, at)) end = lastOffset(section, at) + 1;
  return end;
}

/** Leader epoch and first offset of each complete batch in `section`. */
export function batchEpochs(section: Buffer): { readonly epoch: number; readonly baseOffset: number }[] {
  const epochs = [];
  for (let at = 0; completeBatchAt(section, at); at = batchEnd(section, at)) {
    epochs.push({ epoch: section.readInt32BE(at + 12), baseOffset: readInt64(section, at) });
  }
  return epochs;
}

export interface DecodeOptions {
  readonly fromOffset: number;
  readonly aborted: readonly AbortedTransaction[];
}

/**
 * Decodes the fetched bytes of a partition: the records from `fromOffset` on that were committed or written outside of
 * transactions, in offset order. An incomplete batch at the end is left for the next fetch. Throws on a wrong checksum
 * and on a format before v2.
 */
export function decodeRecords(section: Buffer, { fromOffset, aborted }: DecodeOptions, sink: RecordSink): void {
  const open = new Set<number>();
  const waiting = [...aborted].sort((one, other) => one.firstOffset - other.firstOffset);
  let begun = 0;
  for (let at = 0; completeBatchAt(section, at); at = batchEnd(section, at)) {
    if (section[at + 16] !== MAGIC)
      throw new Error(`Record batches of format ${section[at + 16]} are too old to be read`);
    refuseDamaged(section, at);
    while (waiting.length > begun && waiting[begun].firstOffset <= lastOffset(section, at)) {
      open.add(waiting[begun++].producerId);
    }
    const attributes = section.readInt16BE(at + 21);
    const producerId = readInt64(section, at + 43);
    if (attributes & CONTROL_FLAG) {
      if (isAbortMarker(section, at)) open.delete(producerId);
    } else if (!(attributes & TRANSACTIONAL_FLAG) || !open.has(producerId)) {
      decodeBatch(section.subarray(at, batchEnd(section, at)), fromOffset, sink);
    }
  }
}

/** Throws when the checksum of a batch is wrong. */
function refuseDamaged(section: Buffer, at: number): void {
  const wanted = section.readUInt32BE(at + 17);
  if (crc32c(section, at + 21, batchEnd(section, at)) === wanted) return;
  throw new Error(`The checksum of the record batch at offset ${readInt64(section, at)} is wrong`);
}

function decodeBatch(batch: Buffer, fromOffset: number, sink: RecordSink): void {
  const attributes = batch.readInt16BE(21);
  const baseOffset = readInt64(batch, 0);
  const baseMs = readInt64(batch, 27);
  const appendMs = attributes & LOG_APPEND_TIME_FLAG ? readInt64(batch, 35) : null;
  const count = batch.readInt32BE(57);
  const codec = attributes & CODEC_MASK;
  const stored = batch.subarray(HEADER_BYTES);
  const bytes = codec === 0 ? stored : decompress(codec, stored);
  const cursor: ByteCursor = { bytes, at: 0 };
  let headersAt = 0;
  let headersEnd = 0;
  const headers = () => readHeaders(bytes, headersAt);
  const rawHeaders = () => bytes.subarray(headersAt, headersEnd);
  for (let read = 0; read < count; read++) {
    const size = readVarint(cursor);
    const end = cursor.at + size;
    cursor.at++;
    const deltaMs = readVarlong(cursor);
    const offset = baseOffset + readVarint(cursor);
    const key = readBytes(bytes, cursor);
    const value = readBytes(bytes, cursor);
    headersAt = cursor.at;
    headersEnd = end;
    if (end > bytes.length || headersAt > end) throw new Error(`The record at offset ${offset} is damaged`);
    if (offset >= fromOffset) sink(offset, appendMs ?? baseMs + deltaMs, key, value, headers, rawHeaders);
    cursor.at = end;
  }
}

function readBytes(bytes: Buffer, cursor: ByteCursor): Buffer | null {
  const size = readVarint(cursor);
  if (size < 0) return null;
  const start = cursor.at;
  cursor.at = start + size;
  return bytes.subarray(start, cursor.at);
}

function readHeaders(bytes: Buffer, start: number): RecordHeaders {
  const cursor: ByteCursor = { bytes, at: start };
  const headers: [name: string, value: Buffer | null][] = [];
  for (let left = readVarint(cursor); left > 0; left--) {
    const name = readBytes(bytes, cursor)?.toString() ?? '';
    headers.push([name, readBytes(bytes, cursor)]);
  }
  return headers;
}

/** The key of a control record is version i16, type i16. Type 0 is an abort marker, 1 a commit marker. */
function isAbortMarker(section: Buffer, start: number): boolean {
  const cursor: ByteCursor = { bytes: section, at: start + HEADER_BYTES };
  readVarint(cursor);
  cursor.at++;
  readVarlong(cursor);
  readVarint(cursor);
  const key = readBytes(section, cursor);
  return key !== null && key.length >= 4 && key.readInt16BE(2) === 0;
}

function completeBatchAt(section: Buffer, at: number): boolean {
  return section.length - at >= HEADER_BYTES && batchEnd(section, at) <= section.length;
}

function batchEnd(section: Buffer, at: number): number {
  return at + LENGTH_PREFIX_BYTES + section.readInt32BE(at + 8);
}

function lastOffset(section: Buffer, at: number): number {
  return readInt64(section, at) + section.readInt32BE(at + 23);
}

/** Offsets, timestamps and producer ids stay far below 2^53. */
export function readInt64(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at) * 4294967296 + bytes.readUInt32BE(at + 4);
}
