/** Start, temporality and 64 bits of counters, as the Python SDK and the Collector send them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeInteger } from '../../../../../src/record/point-extras.ts';
import { decodeOtlp } from '../../../../../src/stream/codec/points/otlp.ts';
import type { SeriesPoints } from '../../../../../src/stream/codec/points/series-points.ts';
import { recordedRequests } from '../../../../fixture/senders/recorded.ts';

function pointsOf(what: string, name: string): SeriesPoints[] {
  return recordedRequests('otlp-python.json', what).flatMap((request) => {
    const decoded = decodeOtlp(request, 'protobuf');
    assert.equal(decoded.kind, 'points');
    return decoded.kind === 'points' ? decoded.series.filter((series) => series.name === name) : [];
  });
}

for (const name of ['orders', 'seconds_count']) {
  test(`deltas of ${name} have intervals that follow each other`, () => {
    const found = pointsOf('delta', name);
    assert.deepEqual(
      found.map(({ values }) => values[0]),
      [3, 5, 2, 7],
    );
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

test('integers of 64 bits keep their digits', () => {
  const found = pointsOf('large', 'bytes').map(({ values, extras }) => wholeInteger(values[0], extras?.[0]?.low ?? 0));
  assert.deepEqual(
    found.map((whole) => whole - 2n ** 60n),
    [100n, 200n, 300n, 400n, 500n, 500n],
  );
});
