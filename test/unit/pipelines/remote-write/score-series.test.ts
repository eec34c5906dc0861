import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LabelOwners } from '../../../../src/pipelines/remote-write/score-labels.ts';
import { halvesOf, samplesIn, samplesOfScores } from '../../../../src/pipelines/remote-write/score-series.ts';
import { scoreRecord } from '../../../fixture/stream/score-record.ts';

const seriesOf = (scores: Parameters<typeof samplesOfScores>[0]) => samplesOfScores(scores, new LabelOwners()).series;
const score = (timestampMs: number, changes: Parameters<typeof scoreRecord>[0] = {}) =>
  scoreRecord({ series: 'up{job="a"}', timestampMs, forecast: 4, lo: 3, hi: 5, grade: 0.5, ...changes });

test('a score has a sample of each number that is there, at its event time', () => {
  const silent = score(3, { state: 'silent' });
  const series = seriesOf([score(1), score(2, { lo: null, grade: null }), silent, score(4, { group: 'g' })]);
  const labels = { detector: 'cpu', job: 'a', metric: 'up', time: 'event' };
  const actual = series.map((each) => [Object.fromEntries(each.labels), each.samples]);
  assert.deepEqual(actual, [
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
  ]);
  for (const each of series) {
    const names = each.labels.map(([name]) => name);
    assert.deepEqual(names, [...names].sort());
  }
});

test('halves are in order and have every sample, down to single ones', () => {
  const all = seriesOf([score(1), score(2), score(3)]);
  const leaves = (series: typeof all): typeof all => halvesOf(series)?.flatMap(leaves) ?? series;
  const actual = leaves(all).map(({ labels, samples }) => [labels[0][1], samples[0]?.[0], samples.length]);
  const expected = all.flatMap(({ labels }) => [1, 2, 3].map((ms) => [labels[0][1], ms, 1]));
  assert.deepEqual(actual, expected);
  assert.equal(samplesIn(all), 12);
});

test('of series whose labels become the same one is written, whatever comes first', () => {
  const [dotted, dashed, exact] = ['up{"a.b"="x"}', 'up{"a-b"="x"}', 'up{a_b="x"}'].map((series) =>
    score(1, { series }),
  );
  const owners = new LabelOwners();
  const idsOf = (scores: (typeof exact)[]) => {
    const { series, shadowed } = samplesOfScores(scores, owners);
    return [series.length, shadowed.map(({ id, owner, samples }) => [id, owner, samples])];
  };
  assert.deepEqual(idsOf([dotted, dashed]), [4, [[dotted.series, dashed.series, 4]]]);
  assert.deepEqual(idsOf([dotted, exact]), [4, [[dotted.series, exact.series, 4]]]);
  assert.deepEqual(idsOf([dashed]), [0, [[dashed.series, exact.series, 4]]]);
  assert.deepEqual(idsOf([exact, exact]), [4, []]);
});

test('a band has at most 30 labels, those of the score among them', () => {
  const labels = Array.from({ length: 60 }, (_, i) => `l${String(i).padStart(2, '0')}="${i}"`).join();
  const [{ labels: written }] = seriesOf([score(1, { series: `up{${labels}}` })]);
  assert.equal(written.length, 30);
  const actual = written.map(([name]) => name).filter((name) => !/^l\d/.test(name));
  assert.deepEqual(actual, ['__name__', 'detector', 'metric', 'time']);
});
