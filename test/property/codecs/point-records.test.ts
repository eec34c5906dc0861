/** Records of points are those that are written, and read back, one by one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileObservationWriter } from '../../../src/codecs/observations/observation-writer.ts';
import { compilePointRecords } from '../../../src/codecs/points/point-records.ts';
import type { RecordMapping } from '../../../src/config/config.ts';
import { fc } from '../../fixture/fast-check.ts';
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
      assert.deepEqual(
        records.map((record) => [record.key.toString(), record.value.toString()]),
        written.flatMap((each) => (each.kind === 'record' ? [[each.key.toString(), each.value.toString()]] : [])),
      );
      assert.equal(refused, written.filter(({ kind }) => kind === 'refused').length);
    }),
    { numRuns: 2_000 },
  );
});
