/** Start, temporality and 64 bits of counters, as the Python SDK and the Collector send them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeOtlp } from '../../../../src/codecs/points/decode-points.ts';
import type { SeriesPoints } from '../../../../src/codecs/points/series-points.ts';
import { type CounterPoint, counterChange, nextBases } from '../../../../src/detection/calibration/counter-change.ts';
import { wholeInteger } from '../../../../src/records/point-extras.ts';
import { recordedRequests } from '../../../fixture/senders/recorded.ts';

function pointsOf(what: string, name: string, file = 'otlp-python.json'): SeriesPoints[] {
  return recordedRequests(file, what).flatMap((request) => {
    const decoded = decodeOtlp(request, 'protobuf');
    assert.equal(decoded.kind, 'points');
    return decoded.kind === 'points' ? decoded.series.filter((series) => series.name === name) : [];
  });
}

for (const name of ['orders', 'seconds_count']) {
  test(`deltas of ${name} have intervals that follow each other`, () => {
    const found = pointsOf('delta', name);
    const actual = found.map(({ values }) => values[0]);
    assert.deepEqual(actual, [3, 5, 2, 7]);
    for (const [i, { timestampsMs, extras }] of found.entries()) {
      const { startMs = Number.NaN, isDelta } = extras?.[0] ?? {};
      assert.equal(isDelta, true);
      assert.ok(startMs < timestampsMs[0]);
      if (i > 0) assert.equal(startMs, found[i - 1].timestampsMs[0]);
    }
  });

  test(`cumulative values of ${name} have one start`, () => {
    const found = pointsOf('cumulative', name);
    assert.deepEqual(
      found.map(({ values }) => values[0]),
      [3, 8, 10, 17, 17],
    );
    assert.equal(new Set(found.map(({ extras }) => extras?.[0]?.startMs)).size, 1);
    assert.equal(found[0].extras?.[0]?.isDelta, undefined);
  });
}

test('integers of 64 bits keep their digits, those of gauges, too', () => {
  for (const name of ['bytes', 'bytes_gauge']) {
    const found = pointsOf('large', name).map(({ values, extras }) => wholeInteger(values[0], extras?.[0]?.low ?? 0));
    const actual = found.map((whole) => whole - 2n ** 60n);
    assert.deepEqual(actual, [100n, 200n, 300n, 400n, 500n, 500n]);
  }
});

test('two replicas of Micrometer without an instance id are two starts of one series, each with its own increases', () => {
  let bases: readonly CounterPoint[] = [];
  const found = pointsOf('replicas', 'orders', 'micrometer-otlp.json').map(({ id, timestampsMs, values, extras }) => {
    assert.equal(id, 'orders{job="shop"}');
    const startMs = extras?.[0]?.startMs ?? Number.NaN;
    const arrival = { timestampMs: timestampsMs[0], value: values[0], low: 0, startMs, isDelta: false };
    const change = counterChange(bases, arrival, { apartMsMax: 60_000 });
    bases = nextBases(bases, arrival, { apartMsMax: 60_000 });
    return [change.increase, change.inTurn];
  });
  const turn = [10, 7].map((increase) => [increase, true]);
  // The second one started a moment ago: what it has counted so far is known.
  assert.deepEqual(found, [[Number.NaN, false], [10, false], ...turn, ...turn, ...turn]);
});
