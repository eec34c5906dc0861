import { crc32c } from './crc32c.ts';
import { HEADER_BYTES, MAGIC, TRANSACTIONAL_FLAG } from './record-batch-layout.ts';
import type { EncodableRecord } from './records.ts';
import { takeBatch } from './reused-bytes.ts';
import { varintBytes, varlongBytes, writeVarint, writeVarlong } from './varint.ts';

interface BatchIdentity {
  /** -1 for a producer without an identity. */
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly firstSequence: number;
  readonly transactional: boolean;
}

/** An upper bound of the bytes that the record adds to a batch. */
export function recordBytesMax(record: EncodableRecord): number {
  let bytes = 30 + (record.key?.length ?? 0) + (record.value?.length ?? 0) + (record.rawHeaders?.length ?? 0);
  for (const [name, value] of record.headers ?? []) bytes += 10 + 3 * name.length + (value?.length ?? 0);
  return bytes;
}

/**
 * Encodes a record batch (format v2, not compressed) into one buffer: computes its size first, then writes in place. A
 * test holds that the bytes equal those of kafkajs's encoder.
 */
export function encodeRecordBatch(records: readonly EncodableRecord[], identity: BatchIdentity, nowMs: number): Buffer {
  const firstMs = records[0]?.timestampMs ?? nowMs;
  let maxMs = firstMs;
  let size = HEADER_BYTES;
  const bodies = new Uint32Array(records.length);
  for (let at = 0; at < records.length; at++) {
    const timestampMs = records[at].timestampMs ?? nowMs;
    if (timestampMs > maxMs) maxMs = timestampMs;
    const body = bodyBytes(records[at], timestampMs - firstMs, at);
    bodies[at] = body;
    size += varintBytes(body) + body;
  }
  const out = takeBatch(size);
  writeHeader(out, { count: records.length, firstMs, maxMs, identity });
  let offset = HEADER_BYTES;
  for (let at = 0; at < records.length; at++) {
    offset = writeVarint(out, offset, bodies[at]);
    offset = writeBody(out, offset, records[at], (records[at].timestampMs ?? nowMs) - firstMs, at);
  }
  out.writeUInt32BE(crc32c(out, 21, size), 17);
  return out;
}

interface BatchHeader {
  readonly count: number;
  readonly firstMs: number;
  readonly maxMs: number;
  readonly identity: BatchIdentity;
}

function writeHeader(out: Buffer, { count, firstMs, maxMs, identity }: BatchHeader): void {
  writeInt64(out, 0, 0);
  out.writeInt32BE(out.length - 12, 8);
  out.writeInt32BE(0, 12);
  out[16] = MAGIC;
  out.writeInt16BE(identity.transactional ? TRANSACTIONAL_FLAG : 0, 21);
  out.writeInt32BE(count - 1, 23);
  writeInt64(out, 27, firstMs);
  writeInt64(out, 35, maxMs);
  writeInt64(out, 43, identity.producerId);
  out.writeInt16BE(identity.producerEpoch, 51);
  out.writeInt32BE(identity.firstSequence, 53);
  out.writeInt32BE(count, 57);
}

function bodyBytes(record: EncodableRecord, deltaMs: number, offsetDelta: number): number {
  let size = 1 + varlongBytes(deltaMs) + varintBytes(offsetDelta) + sized(record.key) + sized(record.value);
  if (record.rawHeaders !== undefined) return size + record.rawHeaders.length;
  if (record.headers === undefined) return size + 1;
  for (const [name, value] of record.headers) {
    const nameBytes = Buffer.byteLength(name);
    size += varintBytes(nameBytes) + nameBytes + sized(value);
  }
  return size + varintBytes(record.headers.length);
}

/** Positional arguments: an object for each record would cost too much. */
function writeBody(out: Buffer, start: number, record: EncodableRecord, deltaMs: number, offsetDelta: number): number {
  out[start] = 0;
  let at = writeVarlong(out, start + 1, deltaMs);
  at = writeVarint(out, at, offsetDelta);
  at = writeSized(out, at, record.key);
  at = writeSized(out, at, record.value);
  if (record.rawHeaders !== undefined) {
    out.set(record.rawHeaders, at);
    return at + record.rawHeaders.length;
  }
  if (record.headers === undefined) {
    out[at] = 0;
    return at + 1;
  }
  at = writeVarint(out, at, record.headers.length);
  for (const [name, value] of record.headers) {
    at = writeText(out, at, name);
    at = writeSized(out, at, value);
  }
  return at;
}

function sized(bytes: Buffer | null): number {
  return bytes === null ? 1 : varintBytes(bytes.length) + bytes.length;
}

function writeSized(out: Buffer, at: number, bytes: Buffer | null): number {
  if (bytes === null) return writeVarint(out, at, -1);
  const start = writeVarint(out, at, bytes.length);
  out.set(bytes, start);
  return start + bytes.length;
}

function writeText(out: Buffer, at: number, text: string): number {
  const start = writeVarint(out, at, Buffer.byteLength(text));
  return start + out.write(text, start);
}

/** For integers of at most 53 bits. */
function writeInt64(out: Buffer, at: number, value: number): void {
  out.writeInt32BE(Math.floor(value / 4294967296), at);
  out.writeUInt32BE(value >>> 0, at + 4);
}
