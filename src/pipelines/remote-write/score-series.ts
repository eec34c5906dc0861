import type { WrittenSeries } from '../../codecs/write-request.ts';
import type { ScoreRecord } from '../../records/score-record.ts';
import { isSilence } from '../../records/score-record.ts';
import { labelsOfId, type SeriesLabels } from '../../records/series/series-id.ts';
import { SCORE_NUMBERS } from './score-exposition.ts';
import { type LabelOwners, scoreLabels } from './score-labels.ts';

/** Samples of scores, and those that are omitted since their labels are those of another series. */
export interface ScoreSamples {
  readonly series: WrittenSeries[];
  readonly shadowed: readonly { readonly id: string; readonly owner: string; readonly samples: number }[];
}

/** Samples of scores by their series, in the order of the scores. Numbers that are not there are omitted. */
export function samplesOfScores(scores: readonly ScoreRecord[], owners: LabelOwners): ScoreSamples {
  const written = new Map<string, { labels: SeriesLabels; samples: [number, number][] }>();
  const shadowed = new Map<string, { id: string; owner: string; samples: number }>();
  const labelled = scores
    .filter((score) => !isSilence(score))
    .map((score) => {
      const { series: id, detector, group } = score;
      const ofSeries = labelsOfId(id);
      const labels = scoreLabels(ofSeries, { detector, group, time: 'event' });
      owners.ownerOf(id, ofSeries, labels);
      return { score, ofSeries, labels };
    });
  for (const { score, ofSeries, labels } of labelled) {
    const { series: id, detector, group, timestampMs } = score;
    const owner = owners.ownerOf(id, ofSeries, labels);
    for (const { gauge, of } of SCORE_NUMBERS) {
      const value = of(score);
      if (value === null) continue;
      if (owner !== id) {
        const before = shadowed.get(id)?.samples ?? 0;
        shadowed.set(id, { id, owner, samples: before + 1 });
        continue;
      }
      const key = JSON.stringify([gauge.name, id, detector, group]);
      const known = written.get(key);
      if (known !== undefined) known.samples.push([timestampMs, value]);
      else written.set(key, { labels: [['__name__', gauge.name], ...labels], samples: [[timestampMs, value]] });
    }
  }
  return { series: [...written.values()], shadowed: [...shadowed.values()] };
}

export function samplesIn(series: readonly WrittenSeries[]): number {
  return series.reduce((sum, { samples }) => sum + samples.length, 0);
}

/** The series with its samples after that time, or nothing if it has none. */
export function newerThan({ labels, samples }: WrittenSeries, timeMs: number): WrittenSeries[] {
  const newer = samples.filter(([timestampMs]) => timestampMs > timeMs);
  return newer.length === 0 ? [] : [{ labels, samples: newer }];
}

/** Two halves: of the series, or of the samples of the only one; null if there is one sample. */
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
