/** Records of points are those that are written, and read back; bytes of anybody never end the process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileObservationWriter } from '../../../src/codecs/observations/observation-writer.ts';
import { compilePointRecords } from '../../../src/codecs/points/point-records.ts';
import type { RecordMapping } from '../../../src/config/config.ts';
import { deflateSnappy, inflateSnappy } from '../../../src/kafka/batch/snappy.ts';
import { recordsOfBodies } from '../../../src/pipelines/receive/received-records.ts';
import type { PointsFormat } from '../../../src/records/received-points.ts';
import { fc } from '../../fixture/fast-check.ts';
import { emittedLine, emittedOtlp, snappyBlock, writeRequest } from '../../fixture/stream/emitted-metrics.ts';
import { recordMapping } from '../../fixture/stream/record-mapping.ts';

const NOW = Date.UTC(2026, 0, 1);
const MAPPINGS: readonly RecordMapping[] = [
  recordMapping(),
  recordMapping({ series: ['a.b'], value: 'points[1].v', time: 'time', futureMsMax: null }),
  recordMapping({ series: ['host', 'metric'], timeUnit: 'iso' }),
  recordMapping({ value: 'a', time: 'z' }),
  recordMapping({ time: 'value' }),
];

const series = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('up{job="a"}', 'h/m', '1234567890123', 'ü/é'));
const timestampMs = fc.oneof(fc.integer({ min: NOW - 1e9, max: NOW + 2e5 }), fc.integer(), fc.double());
const value = fc.double({ noNaN: true, noDefaultInfinity: true });
const point = fc.record({ series, timestampMs, value });

test('points are the records of the writer, and refused where it refuses them', () => {
  fc.assert(
    fc.property(fc.constantFrom(...MAPPINGS), fc.array(point, { maxLength: 5 }), (mapping, points) => {
      const write = compileObservationWriter(mapping, () => null);
      const recordsOf = compilePointRecords({ mapping, groupPathOf: () => null });
      const written = points.map((each) => write({ ...each, group: null }, NOW));
      const decoded = points.map((each) => {
        return { id: each.series, name: '', labels: [], timestampsMs: [each.timestampMs], values: [each.value] };
      });
      const { records, refused } = recordsOf({ series: decoded, missing: 0, refused: 0, reasons: [] }, NOW);
      const actual = records.map((record) => [record.key.toString(), record.value.toString()]);
      const expected = written.flatMap((each) =>
        each.kind === 'record' ? [[each.key.toString(), each.value.toString()]] : [],
      );
      assert.deepEqual(actual, expected);
      assert.equal(refused, written.filter(({ kind }) => kind === 'refused').length);
    }),
    { numRuns: 2_000 },
  );
});

const reading = { mapping: recordMapping({ futureMsMax: null }), groupPathOf: () => null };
const receive = recordsOfBodies(reading);

const request = Buffer.from(
  writeRequest([
    {
      labels: { __name__: 'up', job: 'a' },
      samples: [
        [NOW, 1],
        [NOW + 1, 2],
      ],
    },
  ]),
);
const BODIES: readonly (readonly [PointsFormat, boolean, Buffer])[] = [
  ['remote-write', false, request],
  ['remote-write', true, snappyBlock(request)],
  ['otlp-protobuf', false, Buffer.from(await emittedOtlp('protobuf', 'delta'))],
  ['otlp-json', false, Buffer.from(await emittedOtlp('json', 'delta'))],
  ['line-protocol', false, Buffer.from(emittedLine(`${NOW}000000`))],
  ['json-lines', false, Buffer.from(`{"series":"a","timestamp":${NOW},"value":1}\n{"series":"b"}`)],
];

/** A few bytes changed, a part cut out, a part repeated. */
const mutation = fc.record({
  body: fc.constantFrom(...BODIES),
  changes: fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 8 }),
  cut: fc.tuple(fc.nat(), fc.nat()),
  repeat: fc.nat(3),
});

test('mutated bodies of every format are records, refused or unreadable, and nothing is thrown', () => {
  fc.assert(
    fc.property(mutation, ({ body: [format, snappy, given], changes, cut, repeat }) => {
      const bytes = Buffer.from(given);
      for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
      const [from, length] = [cut[0] % bytes.length, cut[1] % 20];
      const kept = Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + length)]);
      const body = { format, snappy, precision: 'ns', bytes: Buffer.concat(Array(repeat + 1).fill(kept)) } as const;
      // What earlier bodies named changes nothing in how a body is read.
      assert.deepEqual(receive(body, NOW), recordsOfBodies(reading)(body, NOW));
    }),
    { numRuns: 2_000 },
  );
});

/** Pieces that come again, near and far. */
const repetitive = fc
  .array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 80 }), fc.integer({ min: 1, max: 40 })), { maxLength: 60 })
  .map((pieces) => Buffer.concat(pieces.flatMap(([piece, times]) => Array.from({ length: times }, () => piece))));

test('whatever is compressed with Snappy inflates to itself', () => {
  fc.assert(
    fc.property(fc.oneof(repetitive, fc.uint8Array({ maxLength: 400 }).map(Buffer.from)), (bytes) => {
      assert.deepEqual(inflateSnappy(deflateSnappy(bytes), bytes.length), bytes);
    }),
  );
});

test('what came within 64 KiB is copied, what came before is not looked for', () => {
  const words = Buffer.from('tidewatch_lower{instance="a"}'.repeat(10_000));
  assert.ok(deflateSnappy(words).length < words.length / 15);
  const word = words.subarray(0, 29);
  const far = Buffer.concat([word, Buffer.alloc(70_000, 1), word]);
  assert.deepEqual(inflateSnappy(deflateSnappy(far), far.length), far);
});
