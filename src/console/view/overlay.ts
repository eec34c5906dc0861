import { canonicalId, labelsOfId, NAME_LABEL, seriesOfId } from '../../series/series-id.ts';
import type { SeriesListQuery } from './console-source.ts';

/** Other series that one chart shows, the most unusual ones. */
export const OVERLAID_MAX = 8;

export interface OverlayChoice {
  /** What the address has. */
  readonly key: string;
  /** Such as `host=web-1`. */
  readonly name: string;
  /** The series that have it in common. */
  readonly query: Pick<SeriesListQuery, 'match' | 'detector' | 'group'>;
}

/** Another series in the same chart. */
export interface Overlaid {
  readonly series: string;
  /** What tells it from the series of the chart. */
  readonly name: string;
  /** At the times of the columns. */
  readonly values: readonly (number | null)[];
  /** Its values are of another kind: the axis is not theirs. */
  readonly ownScale: boolean;
}

interface OverlaidOf {
  readonly series: string;
  readonly detector: string;
  readonly group: string | null;
}

/** What a series has in common with others: each of its labels, its detector, its group. */
export function overlayChoices({ series, detector, group }: OverlaidOf): readonly OverlayChoice[] {
  const { labels } = seriesOfId(series);
  const shown = labels.length === 0 ? [] : Object.entries(labelsOfId(series));
  return [
    ...shown.map(([label, value]) => {
      return { key: `label.${label}`, name: `${label}=${value}`, query: { match: canonicalId('', [[label, value]]) } };
    }),
    ...(group === null ? [] : [{ key: 'group', name: `group ${group}`, query: { group } }]),
    { key: 'detector', name: `detector ${detector}`, query: { detector } },
  ];
}

/** Series of other metrics have scales of their own: bytes and seconds share no axis. */
export function sharesAxis(series: string, other: string): boolean {
  const [one, two] = [seriesOfId(series), seriesOfId(other)];
  return one.labels.length === 0 || two.labels.length === 0 || one.name === two.name;
}

/** What tells a series from another one: the labels that differ, or its id. */
export function overlaidName(series: string, other: string): string {
  const known = labelsOfId(series);
  const differing = Object.entries(labelsOfId(other)).filter(([label, value]) => known[label] !== value);
  return differing.map(([label, value]) => (label === NAME_LABEL ? value : `${label}=${value}`)).join(' ') || other;
}
