import assert from 'node:assert/strict';
import { test } from 'node:test';
import { halvesOf, samplesIn, seriesOfScores } from '../../../src/prometheus/score-series.ts';
import { scoreRecord } from '../../fixture/stream/score-record.ts';

const score = (timestampMs: number, changes: Parameters<typeof scoreRecord>[0] = {}) =>
  scoreRecord({ series: 'up{job="a"}', timestampMs, forecast: 4, lo: 3, hi: 5, grade: 0.5, ...changes });

test('a score has a sample of each number that is there, at its event time', () => {
  const silent = score(3, { state: 'silent' });
  const series = seriesOfScores([score(1), score(2, { lo: null, grade: null }), silent, score(4, { group: 'g' })]);
  const labels = { detector: 'cpu', job: 'a', metric: 'up', time: 'event' };
  assert.deepEqual(
    series.map((each) => [Object.fromEntries(each.labels), each.samples]),
    [
      [{ __name__: 'tidewatch_grade', ...labels }, [[1, 0.5]]],
      [
        { __name__: 'tidewatch_expected', ...labels },
        [
          [1, 4],
          [2, 4],
        ],
      ],
      [{ __name__: 'tidewatch_lower', ...labels }, [[1, 3]]],
      [
        { __name__: 'tidewatch_upper', ...labels },
        [
          [1, 5],
          [2, 5],
        ],
      ],
      [{ __name__: 'tidewatch_grade', ...labels, group: 'g' }, [[4, 0.5]]],
      [{ __name__: 'tidewatch_expected', ...labels, group: 'g' }, [[4, 4]]],
      [{ __name__: 'tidewatch_lower', ...labels, group: 'g' }, [[4, 3]]],
      [{ __name__: 'tidewatch_upper', ...labels, group: 'g' }, [[4, 5]]],
    ],
  );
  for (const each of series) {
    const names = each.labels.map(([name]) => name);
    assert.deepEqual(names, [...names].sort());
  }
});

test('halves are in order and have every sample, down to single ones', () => {
  const all = seriesOfScores([score(1), score(2), score(3)]);
  const leaves = (series: typeof all): typeof all => halvesOf(series)?.flatMap(leaves) ?? series;
  assert.deepEqual(
    leaves(all).map(({ labels, samples }) => [labels[0][1], samples[0]?.[0], samples.length]),
    all.flatMap(({ labels }) => [1, 2, 3].map((ms) => [labels[0][1], ms, 1])),
  );
  assert.equal(samplesIn(all), 12);
});
