import type { ScoreRecord } from '../record/score-record.ts';
import { isSilence } from '../record/score-record.ts';
import { labelsOfId, type SeriesLabels } from '../series/series-id.ts';
import type { WrittenSeries } from '../stream/codec/points/write-request.ts';
import { SCORE_NUMBERS } from './score-exposition.ts';
import { scoreLabels } from './score-labels.ts';

/** Samples of scores by their series, in the order of the scores. Numbers that are not there are left out. */
export function seriesOfScores(scores: readonly ScoreRecord[]): WrittenSeries[] {
  const series = new Map<string, { labels: SeriesLabels; samples: [number, number][] }>();
  for (const score of scores) {
    if (isSilence(score)) continue;
    const { detector, group, timestampMs } = score;
    for (const { gauge, of } of SCORE_NUMBERS) {
      const value = of(score);
      if (value === null) continue;
      const key = JSON.stringify([gauge.name, score.series, detector, group]);
      const known = series.get(key);
      if (known !== undefined) known.samples.push([timestampMs, value]);
      else {
        const labels = scoreLabels(labelsOfId(score.series), { detector, group, time: 'event' });
        series.set(key, { labels: [['__name__', gauge.name], ...labels], samples: [[timestampMs, value]] });
      }
    }
  }
  return [...series.values()];
}

export function samplesIn(series: readonly WrittenSeries[]): number {
  return series.reduce((sum, { samples }) => sum + samples.length, 0);
}

/** Two halves: of the series, or of the samples of the only one; null where there is one sample. */
export function halvesOf(series: readonly WrittenSeries[]): readonly [WrittenSeries[], WrittenSeries[]] | null {
  if (series.length > 1) {
    const middle = series.length >>> 1;
    return [series.slice(0, middle), series.slice(middle)];
  }
  const [{ labels, samples }] = series;
  const middle = samples.length >>> 1;
  if (middle === 0) return null;
  return [[{ labels, samples: samples.slice(0, middle) }], [{ labels, samples: samples.slice(middle) }]];
}
