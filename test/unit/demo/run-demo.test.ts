import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coveredDemoSeries } from '../../../src/demo/run-demo.ts';
import { detectorConfig, streamConfig } from '../../fixture/stream/stream-run.ts';

const NOW_MS = Date.UTC(2026, 4, 1);

test('the start reports no unwatched series during the outage of the demo', () => {
  const stream = streamConfig([detectorConfig({ series: ['*'] })]);
  const hours = Array.from({ length: 48 }, (_, hour) => NOW_MS + hour * 3_600_000);
  const sizes = new Set(hours.map((nowMs) => coveredDemoSeries(stream, nowMs).size));
  assert.deepEqual([...sizes], [40]);
});

test('only the series that a detector takes are awaited', () => {
  const stream = streamConfig([detectorConfig({ series: ['host-?/cpu', 'rack-1/*'] })]);
  assert.deepEqual([...coveredDemoSeries(stream, NOW_MS)].sort(), [
    'host-1/cpu',
    'host-2/cpu',
    'host-3/cpu',
    'host-4/cpu',
    'rack-1/temperature',
  ]);
});

test('a group that is not the key of its records is not awaited', () => {
  const stream = streamConfig([detectorConfig({ series: ['checkout/*'], group: 'series' }), detectorConfig()]);
  const covered = coveredDemoSeries(stream, NOW_MS);
  assert.equal(covered.size, 37);
});

test('a detectors file for other streams is refused with an explanation', () => {
  const { input } = streamConfig([]);
  const other = [
    streamConfig([detectorConfig({ series: ['nothing-of-the-demo'] })]),
    { ...streamConfig([detectorConfig()]), input: { ...input, value: 'points[0].value' } },
    { ...streamConfig([detectorConfig()]), input: { ...input, format: 'avro' as const } },
  ];
  for (const stream of other) {
    assert.throws(() => coveredDemoSeries(stream, NOW_MS), { code: 'configuration', message: /"worker"/ });
  }
});
