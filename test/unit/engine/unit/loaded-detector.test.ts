import assert from 'node:assert/strict';
import { test } from 'node:test';
import { phaseOf } from '../../../../src/engine/unit/loaded-detector.ts';
import { recordPartitioner } from '../../../../src/kafka/produce/key-partition.ts';
import { bothWays, type TimedValue } from '../../../fixture/stream/both-ways.ts';
import { detectorConfig, loadArithmetic, streamSettings } from '../../../fixture/stream/stream-run.ts';

const settings = streamSettings({ h: 24, stepSize: 24, detectionSize: 24, calibrationSize: 288 });
const loadedOf = (isSpread: boolean) => loadArithmetic(detectorConfig({ settings, isSpread }));

test('the series of each partition close their first windows at all steps alike', () => {
  const partitionOf = recordPartitioner();
  const partitions = Array.from({ length: 24 }, (_, partitionId) => ({ partitionId, leader: 1 }));
  const counts = new Uint32Array(24 * 24);
  for (let series = 0; series < 57_600; series++) {
    const id = `host-${series}/cpu`;
    counts[24 * partitionOf(Buffer.from(id), partitions as never) + phaseOf(loadedOf(true), id)]++;
  }
  assert.ok(Math.min(...counts) > 50 && Math.max(...counts) < 160, 'far from 100 of each');
});

test('without it all first windows are whole', () => {
  assert.equal(phaseOf(loadedOf(false), 'host-3/cpu'), 0);
});

test('a series closes its first window where its id decides, in the stream and in a backtest, and again after a gap', async () => {
  const detector = detectorConfig({ settings: { ...settings, gapLimit: 30 }, isSpread: true });
  const values = ['a', 'b', 'c'].flatMap((series) =>
    [0, 100].flatMap((from) => Array.from({ length: 60 }, (_, i): TimedValue => [series, from + i, (i * 7_919) % 101])),
  );
  values.sort(([, a], [, b]) => a - b);
  const { stream, backtest } = await bothWays(values, detector);
  const windowsOf = (scores: typeof stream.scores, series: string) => [
    ...new Set(scores.filter((score) => score.series === series).map(({ window }) => `${window.start}-${window.end}`)),
  ];
  for (const series of ['a', 'b', 'c']) {
    const phase = phaseOf(loadedOf(true), series);
    const ends = [phase, phase + 24, phase + 48, phase + 72].filter((end) => end > 0 && end < 84);
    const expected = ends.map((end) => `${Math.max(0, end - 24)}-${end}`);
    assert.deepEqual(windowsOf(stream.scores, series), expected);
    assert.deepEqual(windowsOf(backtest.scores, series), windowsOf(stream.scores, series));
  }
});
