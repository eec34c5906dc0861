import { decompress } from './compression.ts';
import {
  codecMask,
  controlFlag,
  headerBytes,
  lengthPrefixBytes,
  logAppendTimeFlag,
  magic,
  transactionalFlag,
} from './record-batch-layout.ts';
import { type ByteCursor, readVarint, readVarlong } from './varint.ts';

/** A transaction that was aborted, as a fetch response lists it. */
export interface AbortedTransaction {
  readonly producerId: number;
  readonly firstOffset: number;
}

/** `key` and `value` are views of the fetched bytes. `headers` reads the record's headers; only during the call. */
export type RecordSink = (
  offset: number,
  timestampMs: number,
  key: Buffer | null,
  value: Buffer | null,
  headers: () => Record<string, string>,
) => void;

/** The offset after the last whole batch in `section`, or null when there is none. */
export function endOffset(section: Buffer): number | null {
  let end: number | null = null;
  for (let at = 0; wholeBatchAt(section, at); at = batchEnd(section, at)) end = lastOffset(section, at) + 1;
  return end;
}

/**
 * Hands over the live records of a partition's fetched bytes in offset order: those of committed transactions or none, from
 * `fromOffset` on. A batch that is cut off at the end is left for the next fetch. Throws on a format before v2.
 */
export function decodeRecords(
  section: Buffer,
  fromOffset: number,
  aborted: readonly AbortedTransaction[],
  sink: RecordSink,
): void {
  const open = new Set<number>();
  const waiting = [...aborted].sort((one, other) => one.firstOffset - other.firstOffset);
  for (let at = 0; wholeBatchAt(section, at); at = batchEnd(section, at)) {
    if (section[at + 16] !== magic)
      throw new Error(`Record batches of format ${section[at + 16]} are too old to be read`);
    while (waiting.length > 0 && waiting[0].firstOffset <= lastOffset(section, at))
      open.add(waiting.shift()!.producerId);
    const attributes = section.readInt16BE(at + 21);
    const producerId = readInt64(section, at + 43);
    if (attributes & controlFlag) {
      if (isAbortMarker(section, at)) open.delete(producerId);
    } else if (!(attributes & transactionalFlag) || !open.has(producerId)) {
      decodeBatch(section, at, attributes, fromOffset, sink);
    }
  }
}

function decodeBatch(section: Buffer, start: number, attributes: number, fromOffset: number, sink: RecordSink): void {
  const baseOffset = readInt64(section, start);
  const baseMs = readInt64(section, start + 27);
  const appendMs = attributes & logAppendTimeFlag ? readInt64(section, start + 35) : null;
  const count = section.readInt32BE(start + 57);
  const codec = attributes & codecMask;
  const stored = section.subarray(start + headerBytes, batchEnd(section, start));
  const bytes = codec === 0 ? stored : decompress(codec, stored);
  const cursor: ByteCursor = { bytes, at: 0 };
  let headersAt = 0;
  const headers = () => readHeaders(bytes, headersAt);
  for (let read = 0; read < count; read++) {
    const size = readVarint(cursor);
    const end = cursor.at + size;
    cursor.at++;
    const deltaMs = readVarlong(cursor);
    const offset = baseOffset + readVarint(cursor);
    const key = readBytes(bytes, cursor);
    const value = readBytes(bytes, cursor);
    headersAt = cursor.at;
    if (end > bytes.length || headersAt > end) throw new Error(`The record at offset ${offset} is damaged`);
    if (offset >= fromOffset) sink(offset, appendMs ?? baseMs + deltaMs, key, value, headers);
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

function readHeaders(bytes: Buffer, start: number): Record<string, string> {
  const cursor: ByteCursor = { bytes, at: start };
  const headers: [name: string, value: string][] = [];
  for (let left = readVarint(cursor); left > 0; left--) {
    const name = readBytes(bytes, cursor)?.toString() ?? '';
    headers.push([name, readBytes(bytes, cursor)?.toString() ?? '']);
  }
  return Object.fromEntries(headers);
}

/** A control record's key is version i16, type i16; type 0 ends an aborted transaction, 1 a committed one. */
function isAbortMarker(section: Buffer, start: number): boolean {
  const cursor: ByteCursor = { bytes: section, at: start + headerBytes };
  readVarint(cursor);
  cursor.at++;
  readVarlong(cursor);
  readVarint(cursor);
  const key = readBytes(section, cursor);
  return key !== null && key.length >= 4 && key.readInt16BE(2) === 0;
}

function wholeBatchAt(section: Buffer, at: number): boolean {
  return section.length - at >= headerBytes && batchEnd(section, at) <= section.length;
}

function batchEnd(section: Buffer, at: number): number {
  return at + lengthPrefixBytes + section.readInt32BE(at + 8);
}

function lastOffset(section: Buffer, at: number): number {
  return readInt64(section, at) + section.readInt32BE(at + 23);
}

/** Offsets, timestamps and producer ids stay far below 2^53. */
export function readInt64(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at) * 4294967296 + bytes.readUInt32BE(at + 4);
}
