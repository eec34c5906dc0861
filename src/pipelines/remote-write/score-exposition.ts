import type { PublishedScores, SeriesRow } from '../../history/port/history-port.ts';
import { SCORE_GAUGES } from '../../ops/metrics.ts';
import { labelsOfId } from '../../records/series/series-id.ts';
import { LabelOwners, scoreLabels } from './score-labels.ts';

export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

const { grade, expected, lower, upper, scoredTime, openEvent, leftOut } = SCORE_GAUGES;

type ScoreNumbers = Pick<SeriesRow, 'grade' | 'forecast' | 'lo' | 'hi'>;

export const SCORE_NUMBERS: readonly { readonly gauge: typeof grade; of(score: ScoreNumbers): number | null }[] = [
  { gauge: grade, of: (score) => score.grade },
  { gauge: expected, of: ({ forecast }) => forecast },
  { gauge: lower, of: ({ lo }) => lo },
  { gauge: upper, of: ({ hi }) => hi },
];

/** Series and open events as the text that Prometheus scrapes. */
export function scoreMetrics(published: PublishedScores): string {
  const { series, seriesTotal, events, eventsTotal } = published;
  const text = new Exposition();
  const owners = new LabelOwners();
  const all = series.map((score) => {
    const ofSeries = labelsOfId(score.series);
    const labels = scoreLabels(ofSeries, score);
    return { score, labels, ownerOf: () => owners.ownerOf(score.series, ofSeries, labels) };
  });
  for (const { ownerOf } of all) ownerOf();
  const labelled = all
    .filter(({ score, ownerOf }) => ownerOf() === score.series)
    .map(({ score, labels }) => ({ score, labels: labelText(labels) }));
  const ofEach = (gauge: typeof grade, of: (score: SeriesRow) => number | null) =>
    text.gauge(
      gauge,
      labelled.map(({ score, labels }) => [labels, of(score)]),
    );
  for (const { gauge, of } of SCORE_NUMBERS) ofEach(gauge, of);
  ofEach(scoredTime, ({ timestampMs }) => timestampMs / 1_000);
  text.gauge(
    openEvent,
    events.map(({ series: id, seriesLabels, detector, group, kind }) => {
      // An event that an earlier release kept has no labels.
      const labels = id === null ? (seriesLabels ?? {}) : labelsOfId(id);
      return [labelText(scoreLabels(labels, { detector, group, kind })), 1];
    }),
  );
  text.gauge(leftOut, [
    ['what="series"', seriesTotal - series.length],
    ['what="events"', eventsTotal - events.length],
  ]);
  return text.text;
}

type Sample = readonly [labels: string, value: number | null];

class Exposition {
  text = '';

  /** A scrape takes one sample of equal labels: the first. */
  gauge({ name, help }: typeof grade, samples: readonly Sample[]): void {
    this.text += `# HELP ${name} ${help}\n# TYPE ${name} gauge\n`;
    const seen = new Set<string>();
    for (const [labels, value] of samples) {
      if (value === null || seen.has(labels)) continue;
      seen.add(labels);
      this.text += `${name}{${labels}} ${value}\n`;
    }
  }
}

/** If the series has none, a scrape that honors labels would take those of its target. */
const OF_TARGETS = ['instance', 'job'];

function labelText(labels: ReturnType<typeof scoreLabels>): string {
  const without = OF_TARGETS.filter((target) => labels.every(([name]) => name !== target));
  const all = [...labels, ...without.map((name) => [name, ''] as const)];
  return all.map(([name, value]) => `${name}="${escaped(value)}"`).join(',');
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
