import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileMapping } from '../../../../src/codecs/observations/mapping.ts';
import { compileObservationWriter } from '../../../../src/codecs/observations/observation-writer.ts';
import type { GroupSource, RecordMapping } from '../../../../src/config/config.ts';
import { recordMapping } from '../../../fixture/stream/record-mapping.ts';

const NOW = Date.UTC(2026, 0, 1);
const observation = {
  series: 'web/1',
  group: null,
  timestampMs: Date.UTC(2025, 5, 1, 12, 0, 0, 250),
  value: 0.1 + 0.2,
};

function write(
  mapping: Partial<RecordMapping>,
  changes: Partial<Record<keyof typeof observation, unknown>> = {},
  groupPath: GroupSource = null,
) {
  const writeObservation = compileObservationWriter(recordMapping(mapping), () => groupPath);
  const written = writeObservation({ ...observation, ...changes } as typeof observation, NOW);
  if (written.kind === 'refused') return written.reason;
  return [written.key.toString(), JSON.parse(written.value.toString())];
}

test('the record has the shape of the mapping, and its key is the series', () => {
  const { timestampMs: timestamp, value } = observation;
  assert.deepEqual(write({}), ['web/1', { series: 'web/1', timestamp, value }]);
  assert.deepEqual(write({ series: ['tags.id'], time: '$.at[0]', value: 'points[1]["a.b"]' }), [
    'web/1',
    { tags: { id: 'web/1' }, at: [timestamp], points: [null, { 'a.b': value }] },
  ]);
});

test('a record is written without dropped labels, under the group that its labels make', () => {
  const series = 'up{instance="a",job="node",replica="1"}';
  const kept = 'up{instance="a",job="node"}';
  const [key, record] = write({ dropLabels: ['replica'] }, { series }) as [string, { series: string }];
  assert.deepEqual([key, record.series], [kept, kept]);
  const [group] = write({ dropLabels: ['replica'] }, { series }, ['job']);
  assert.equal(group, '{job="node"}');
});

test('every unit of time gives the same event time', () => {
  for (const timeUnit of ['s', 'ms', 'us', 'ns', 'iso'] as const)
    assert.ok(Array.isArray(write({ timeUnit })), timeUnit);
});

test('an id that the mapping joins is split into its parts', () => {
  const series = ['host', 'metric'];
  assert.deepEqual(write({ series }, { series: 'a/b/c' })[1], {
    host: 'a',
    metric: 'b/c',
    timestamp: observation.timestampMs,
    value: observation.value,
  });
  assert.equal(write({ series }, { series: 'a' }), 'series "a" is not host and metric joined by /');
});

test('the key of a member is the group id, which is also at the group path of the detector', () => {
  const [key, record] = write({}, { group: 'shop' }, 'tags.group') as [string, { tags: unknown }];
  assert.deepEqual([key, record.tags], ['shop', { group: 'shop' }]);
  assert.equal(write({}, {}, 'tags.group'), 'the group id is missing');
  assert.equal(write({}, { group: 'shop' }), 'the detector of series "web/1" scores it alone, not in a group');
});

test('an observation that the stream would refuse is refused for the same reason', () => {
  assert.match(
    String(write({}, { timestampMs: NOW + 120_000 })),
    /60000 ms further ahead of the clock than future_limit allows/,
  );
  assert.match(String(write({}, { value: 1e300 })), /its magnitude is beyond/);
});

test('an observation is refused when the paths of the mapping collide', () => {
  const collide = 'the paths of the input mapping conflict';
  assert.equal(write({ value: 'series' }), collide);
  assert.match(String(write({ value: 'series.value' })), /the record has no value/);
  assert.equal(write({ time: 'value', value: 'value', timeUnit: 'ms' }, { value: NOW - 1 }), collide);
});

test('the label of a replica stays in the record, and is no part of the key', () => {
  const mapping = recordMapping({ replicaLabel: 'replica', dropLabels: ['pod'] });
  const series = 'up{job="a",pod="p",replica="r1"}';
  const written = compileObservationWriter(mapping, () => null)(
    { series, group: null, timestampMs: NOW, value: 1 },
    NOW,
  );
  assert.equal(written.kind === 'record' && written.key.toString(), 'up{job="a"}');
  const record = JSON.parse(written.kind === 'record' ? written.value.toString() : '{}');
  assert.equal(record.series, 'up{job="a",replica="r1"}');
  const read = compileMapping(mapping)(record, NOW);
  assert.deepEqual(read.kind === 'observation' && [read.series, read.extras], ['up{job="a"}', { replica: 'r1' }]);
});
