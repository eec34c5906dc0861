import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import test from 'node:test';
import { crc32c } from '../../../../src/kafka/batch/crc32c.ts';
import { decodeRecords, endOffset } from '../../../../src/kafka/batch/record-batch-decoder.ts';
import { encodeRecordBatch, recordBytesMax } from '../../../../src/kafka/batch/record-batch-encoder.ts';
import { HEADER_BYTES } from '../../../../src/kafka/batch/record-batch-layout.ts';
import type { EncodableRecord, RecordHeaders } from '../../../../src/kafka/batch/records.ts';
import { fc } from '../../../fixture/fast-check.ts';

const load = createRequire(import.meta.url);
const kafkaJsRecord = load('kafkajs/src/protocol/recordBatch/record/v0/index.js');
const { RecordBatch: kafkaJsBatch } = load('kafkajs/src/protocol/recordBatch/v0/index.js');
const KafkaJsDecoder = load('kafkajs/src/protocol/decoder.js');
const kafkaJsDecodeBatch = load('kafkajs/src/protocol/recordBatch/v0/decoder.js');

const nowMs = 1_795_000_000_000;
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const record: fc.Arbitrary<EncodableRecord> = fc.record(
  {
    key: fc.option(bytes),
    value: fc.option(bytes),
    headers: fc
      .dictionary(fc.string({ minLength: 1, unit: 'binary' }), bytes, { maxKeys: 3 })
      .map((named) => Object.entries(named)),
    timestampMs: fc.oneof(
      fc.integer({ min: 0, max: 4_000_000_000_000 }),
      // About as far from each other as an int32 reaches.
      fc.integer({ min: nowMs - 2 ** 31, max: nowMs + 2 ** 31 }),
    ),
  },
  { requiredKeys: ['key', 'value'] },
);
const records = fc.array(record, { minLength: 1, maxLength: 200 });
const identity = fc.record({
  producerId: fc.integer({ min: -1, max: 2 ** 40 }),
  producerEpoch: fc.integer({ min: 0, max: 32_767 }),
  firstSequence: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  transactional: fc.boolean(),
});

/** kafkajs takes null for the end of headers' values, so none is given here; it wants the oldest timestamp first. */
async function encodedByKafkaJs(batch: readonly EncodableRecord[], of: Record<string, unknown>): Promise<Buffer> {
  const times = batch.map(({ timestampMs }) => timestampMs ?? nowMs);
  const encoded = batch.map(({ key, value, headers }, offsetDelta) => {
    return kafkaJsRecord({
      offsetDelta,
      timestampDelta: times[offsetDelta] - times[0],
      key,
      value,
      headers: Object.fromEntries(headers ?? []),
    });
  });
  const made = await kafkaJsBatch({
    ...of,
    records: encoded,
    firstTimestamp: times[0],
    maxTimestamp: Math.max(...times),
    lastOffsetDelta: batch.length - 1,
  });
  return made.buffer;
}

test('an encoded batch equals that of kafkajs byte for byte', async () => {
  await fc.assert(
    fc.asyncProperty(records, identity, async (batch, of) => {
      assert.deepEqual(encodeRecordBatch(batch, of, nowMs), await encodedByKafkaJs(batch, of));
    }),
  );
});

test('a batch is decoded to the records that were encoded, and as kafkajs decodes it', async () => {
  await fc.assert(
    fc.asyncProperty(records, identity, async (batch, of) => {
      const encoded = encodeRecordBatch(batch, of, nowMs);
      const { records: theirs } = await kafkaJsDecodeBatch(new KafkaJsDecoder(encoded));
      const ours: unknown[] = [];
      decodeRecords(encoded, { fromOffset: 0, aborted: [] }, (offset, timestampMs, key, value, headers) => {
        ours.push({ offset, timestampMs, key, value, headers: headers() });
      });
      assert.deepEqual(
        ours,
        batch.map(({ key, value, headers, timestampMs }, offset) => {
          return { offset, timestampMs: timestampMs ?? nowMs, key, value, headers: headers ?? [] };
        }),
      );
      for (const [at, their] of theirs.entries()) {
        const { offset, timestampMs, key, value } = ours[at] as { [name: string]: unknown };
        assert.deepEqual(
          { offset, timestampMs, key, value },
          { offset: Number(their.offset), timestampMs: Number(their.timestamp), key: their.key, value: their.value },
        );
      }
    }),
  );
});

test('headers keep any name, number, order and bytes', () => {
  const headers = [
    ['__proto__', Buffer.from('a')],
    ['constructor', Buffer.from([0xff, 0x00, 0xc3])],
    ['10', Buffer.from('later names of digits come first in an object')],
    ['9', null],
    ['constructor', Buffer.alloc(0)],
  ] as const;
  const noIdentity = { producerId: -1, producerEpoch: 0, firstSequence: 0, transactional: false };
  const read: RecordHeaders[] = [];
  const batch = encodeRecordBatch([{ key: null, value: null, headers }], noIdentity, nowMs);
  decodeRecords(batch, { fromOffset: 0, aborted: [] }, (_offset, _ms, _key, _value, headersOf) =>
    read.push(headersOf()),
  );
  assert.deepEqual(read, [headers]);
});

test('a record never takes more bytes than its bound', () => {
  fc.assert(
    fc.property(records, identity, (batch, of) => {
      const bound = batch.reduce((sum, one) => sum + recordBytesMax(one), HEADER_BYTES);
      assert.ok(encodeRecordBatch(batch, of, nowMs).length <= bound);
    }),
  );
});

/** With the checksum of what it holds now. */
function sealed(batch: Buffer): Buffer {
  batch.writeUInt32BE(crc32c(batch, 21), 17);
  return batch;
}

/** A batch at an offset, with the given attributes and perhaps other bytes for its records. */
function batchAt(baseOffset: number, values: readonly string[], of: { producerId?: number; attributes?: number } = {}) {
  const plain = values.map((value) => ({ key: null, value: Buffer.from(value) }));
  const transactional = of.producerId !== undefined;
  const who = { producerId: of.producerId ?? -1, producerEpoch: 0, firstSequence: 0, transactional };
  const batch = encodeRecordBatch(plain, who, nowMs);
  batch.writeInt32BE(baseOffset, 4);
  batch[22] = batch[22] | (of.attributes ?? 0);
  return sealed(batch);
}

/** The control record that ends a transaction; `outcome` 0 aborts, 1 commits. */
function markerAt(baseOffset: number, producerId: number, outcome: 0 | 1): Buffer {
  const marker = { key: Buffer.from([0, 0, 0, outcome]), value: Buffer.alloc(6) };
  const batch = encodeRecordBatch(
    [marker],
    { producerId, producerEpoch: 0, firstSequence: -1, transactional: true },
    nowMs,
  );
  batch.writeInt32BE(baseOffset, 4);
  batch[22] = batch[22] | 0x20;
  return sealed(batch);
}

function decoded(
  section: Buffer,
  fromOffset = 0,
  aborted: { producerId: number; firstOffset: number }[] = [],
): string[] {
  const values: string[] = [];
  decodeRecords(section, { fromOffset, aborted }, (offset, _ms, _key, value) => values.push(`${offset}:${value}`));
  return values;
}

test('records before the requested offset are left out, and an incomplete batch is left for the next fetch', () => {
  const section = Buffer.concat([batchAt(10, ['a', 'b', 'c']), batchAt(13, ['d'])]);
  assert.deepEqual(decoded(section, 11), ['11:b', '12:c', '13:d']);
  assert.equal(endOffset(section), 14);
  const cut = section.subarray(0, section.length - 1);
  assert.deepEqual(decoded(cut, 11), ['11:b', '12:c']);
  assert.equal(endOffset(cut), 13);
  assert.equal(endOffset(cut.subarray(0, 70)), null);
});

test('records of an aborted transaction are hidden up to its marker, records of others are not', () => {
  const section = Buffer.concat([
    batchAt(0, ['aborted'], { producerId: 7 }),
    batchAt(1, ['kept'], { producerId: 8 }),
    batchAt(2, ['plain']),
    batchAt(3, ['aborted too'], { producerId: 7 }),
    markerAt(4, 7, 0),
    batchAt(5, ['kept too'], { producerId: 7 }),
    markerAt(6, 8, 1),
    markerAt(7, 7, 1),
  ]);
  assert.deepEqual(decoded(section, 0, [{ producerId: 7, firstOffset: 0 }]), ['1:kept', '2:plain', '5:kept too']);
  assert.equal(endOffset(section), 8);
});

test('a data record that looks like an abort marker ends no transaction', () => {
  const lookalike = encodeRecordBatch(
    [{ key: Buffer.alloc(4), value: Buffer.from('aborted') }],
    { producerId: 7, producerEpoch: 0, firstSequence: 0, transactional: true },
    nowMs,
  );
  const after = batchAt(1, ['aborted too'], { producerId: 7 });
  assert.deepEqual(decoded(Buffer.concat([lookalike, after]), 0, [{ producerId: 7, firstOffset: 0 }]), []);
});

test('batches with log append time have the time of the broker', () => {
  const times: number[] = [];
  const batch = batchAt(0, ['a', 'b'], { attributes: 0x08 });
  batch.writeBigInt64BE(123_456n, 35);
  decodeRecords(sealed(batch), { fromOffset: 0, aborted: [] }, (_offset, timestampMs) => times.push(timestampMs));
  assert.deepEqual(times, [123_456, 123_456]);
});

test('the bytes of the headers of a record that was read are written as they were', () => {
  fc.assert(
    fc.property(records, identity, (batch, of) => {
      const encoded = encodeRecordBatch(batch, of, nowMs);
      const passed: EncodableRecord[] = [];
      const options = { fromOffset: 0, aborted: [] };
      decodeRecords(encoded, options, (_offset, timestampMs, key, value, _headers, rawHeaders) => {
        passed.push({ key, value, timestampMs, rawHeaders: rawHeaders() });
      });
      assert.deepEqual(encodeRecordBatch(passed, of, nowMs), encoded);
      const sizes = passed.reduce((sum, one) => sum + recordBytesMax(one), HEADER_BYTES);
      assert.ok(encoded.length <= sizes);
    }),
  );
});
