/** Bytes of anybody never end the process that receives them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordsOfBodies } from '../../../src/pipelines/receive/received-records.ts';
import type { PointsFormat } from '../../../src/records/received-points.ts';
import { fc } from '../../fixture/fast-check.ts';
import { emittedLine, emittedOtlp, snappyBlock, writeRequest } from '../../fixture/stream/emitted-metrics.ts';
import { recordMapping } from '../../fixture/stream/record-mapping.ts';

const NOW = 1_767_225_600_000;
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
