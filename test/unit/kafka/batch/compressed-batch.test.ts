import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compressBatch } from '../../../../src/kafka/batch/compressed-batch.ts';
import { decodeRecords } from '../../../../src/kafka/batch/record-batch-decoder.ts';
import { encodeRecordBatch } from '../../../../src/kafka/batch/record-batch-encoder.ts';

const identity = { producerId: 7, producerEpoch: 2, firstSequence: 3, transactional: true };

function encoded(count: number): Buffer {
  const records = Array.from({ length: count }, (_, i) => {
    const value = Buffer.from(JSON.stringify({ series: `s${i}`, forecast: null, score: i }));
    return {
      key: Buffer.from(`k${i}`),
      value,
      timestampMs: 1_000 + i,
      headers: [['traceparent', Buffer.from(`00-${i}`)]] as const,
    };
  });
  return encodeRecordBatch(records, identity, 0);
}

function decoded(batch: Buffer): unknown[] {
  const records: unknown[] = [];
  decodeRecords(batch, { fromOffset: 0, aborted: [] }, (offset, timestampMs, key, value, headers) => {
    records.push([offset, timestampMs, String(key), String(value), headers()]);
  });
  return records;
}

for (const compression of ['gzip', 'zstd'] as const) {
  test(`a batch compressed with ${compression} has the same records, and a checksum of its own`, () => {
    const plain = encoded(300);
    const compressed = compressBatch(plain, compression);
    assert.ok(compressed.length < plain.length / 3, `${compressed.length} of ${plain.length} bytes`);
    assert.deepEqual(decoded(compressed), decoded(plain));
  });
}

test('a batch that compression would not make smaller stays as it is', () => {
  assert.equal(compressBatch(encoded(1), 'zstd').length, encoded(1).length);
  assert.deepEqual(compressBatch(encoded(300), 'none'), encoded(300));
});

test('a batch whose checksum is wrong is refused', () => {
  const batch = encoded(20);
  batch[batch.length - 1] ^= 1;
  assert.throws(() => decoded(batch), /The checksum of the record batch at offset 0 is wrong/);
});
