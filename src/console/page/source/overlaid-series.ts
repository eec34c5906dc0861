import { useEffect, useMemo, useState } from 'preact/hooks';
import { comparedValues } from '../../view/compared.ts';
import type { ConsoleSource } from '../../view/console-source.ts';
import { OVERLAID_MAX, type Overlaid, type OverlayChoice, overlaidName, sharesAxis } from '../../view/overlay.ts';
import type { ShownScores } from '../../view/shown-scores.ts';
import type { SeriesHistoryState } from './series-history.ts';

const POINTS = 1_200;
const READ_AFTER_MS = 300;
/** While a chart follows what arrives, others are read again with each such share of what it shows. */
const SHARE = 1 / 20;

interface OverlaidBy {
  readonly source: ConsoleSource;
  readonly series: string;
  /** What they have in common; null: there are no others. */
  readonly choice: OverlayChoice | null;
}

export interface OverlaidSeries {
  readonly shown: readonly Overlaid[];
  /** Others that have it in common, beyond those that are shown. */
  readonly more: number;
}

interface ReadSeries {
  readonly series: string;
  readonly columns: ShownScores;
}

const NONE: OverlaidSeries = { shown: [], more: 0 };

/** Values of other series at the times of the columns, the most unusual first. */
export function useOverlaidSeries(
  { source, series, choice }: OverlaidBy,
  { columns, range }: Pick<SeriesHistoryState, 'columns' | 'range'>,
): OverlaidSeries {
  const [read, setRead] = useState<{ key: string; all: readonly ReadSeries[]; more: number } | null>(null);
  const step = range === null ? 1 : Math.max(1, (range.to - range.from) * SHARE);
  const from = range === null ? 0 : Math.round(Math.floor(range.from / step) * step);
  const to = range === null ? 0 : Math.round(Math.ceil(range.to / step) * step);
  const key = choice?.key ?? '';
  useEffect(() => {
    if (choice === null || to === 0) return undefined;
    let gone = false;
    const load = async () => {
      const listed = await source.seriesList({ ...choice.query, sort: 'grade', limit: OVERLAID_MAX + 1 });
      const others = listed.series.filter((other) => other.series !== series).slice(0, OVERLAID_MAX);
      const all = await Promise.all(
        others.map(async (other) => {
          return { series: other.series, columns: await source.scores(other.series, { from, to, points: POINTS }) };
        }),
      );
      if (!gone) setRead({ key, all, more: Math.max(0, listed.total - 1 - all.length) });
    };
    // What cannot be read is left out: the chart itself says why.
    const timer = setTimeout(() => load().catch(() => setRead(null)), READ_AFTER_MS);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [source, series, key, from, to]);
  return useMemo(() => {
    if (read === null || read.key !== key) return NONE;
    const shown = read.all.map(({ series: other, columns: found }) => {
      const name = overlaidName(series, other);
      const ownScale = !sharesAxis(series, other);
      return { series: other, name, ownScale, values: comparedValues(columns, found, 0) };
    });
    return { shown, more: read.more };
  }, [read, key, columns]);
}
