import { useEffect, useState } from 'preact/hooks';
import type { ConsoleSource } from '../../view/console-source.ts';
import { withGaps } from '../../view/scores/gaps.ts';
import { NO_SCORES, type ShownScores } from '../../view/scores/shown-scores.ts';
import type { TimeRange } from '../../view/scores/time-range.ts';
import { html, type Shown } from '../element/html.ts';
import { inTurn, SparkDrawing } from './event-sparkline.ts';

const WIDTH = 600;
const HEIGHT = 44;
const POINTS = 200;

interface AlignedChartProps {
  readonly source: ConsoleSource;
  readonly series: string;
  /** Width of the drawing, the same in a column. */
  readonly range: TimeRange;
  readonly startedAt?: number;
  readonly endedAt?: number | null;
  readonly marks?: readonly number[];
}

export function AlignedChart({ source, series, range, startedAt, endedAt, marks }: AlignedChartProps): Shown {
  const [columns, setColumns] = useState<ShownScores>(NO_SCORES);
  const [from, to] = [Math.round(range.from), Math.round(range.to)];
  useEffect(() => {
    let gone = false;
    void inTurn(async () => {
      if (gone) return;
      const found = await source.scores(series, { from, to, points: POINTS });
      if (!gone) setColumns(withGaps(found));
    });
    return () => {
      gone = true;
    };
  }, [source, series, from, to]);
  return html`<${SparkDrawing} columns=${columns} range=${{ from, to }} width=${WIDTH} height=${HEIGHT}
    startedAt=${startedAt} endedAt=${endedAt} marks=${marks} />`;
}
