import { useEffect, useRef } from 'preact/hooks';
import { quantityTexts } from '../../../records/text/quantity-text.ts';
import { panned, type TimeRange, zoomed } from '../../view/scores/shown-scores.ts';
import { momentText, zonedText } from '../../view/words/value-words.ts';
import { useWidth } from '../element/hooks.ts';
import { html, type Shown } from '../element/html.ts';
import { type ChartData, ScoreChart } from './score-chart.ts';

interface ChartViewProps extends ChartData {
  readonly onRange: (range: TimeRange) => void;
  readonly onPoint: (index: number | null) => void;
}

export function ChartView({ onRange, onPoint, ...data }: ChartViewProps): Shown {
  const { ref, width } = useWidth<HTMLDivElement>();
  const chart = useRef<ScoreChart | null>(null);
  const handlers = useRef({ onRange, onPoint });
  handlers.current = { onRange, onPoint };
  useEffect(() => {
    if (ref.current === null) return undefined;
    const made = new ScoreChart(ref.current, data, {
      onRange: (range) => handlers.current.onRange(range),
      onPoint: (index) => handlers.current.onPoint(index),
    });
    chart.current = made;
    const recolour = () => made.recolour();
    const dark = matchMedia('(prefers-color-scheme: dark)');
    addEventListener('themechange', recolour);
    dark.addEventListener('change', recolour);
    return () => {
      removeEventListener('themechange', recolour);
      dark.removeEventListener('change', recolour);
      made.destroy();
    };
  }, []);
  const { columns, events, changes, chosen, compared } = data;
  useEffect(() => chart.current?.update(data), [columns, events, changes, chosen, data.range, compared]);
  useEffect(() => {
    if (width > 0) chart.current?.resize(width);
  }, [width]);
  const { range } = data;
  const press = (event: KeyboardEvent) => {
    const middle = (range.from + range.to) / 2;
    const next = {
      ArrowLeft: panned(range, -0.2),
      ArrowRight: panned(range, 0.2),
      '+': zoomed(range, 0.5, middle),
      '-': zoomed(range, 2, middle),
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    onRange(next);
  };
  return html`<div class="chart" ref=${ref} role="img" tabindex="0" aria-label=${chartText(data)}
    onKeyDown=${press} />`;
}

/** The chart in a sentence, for those who do not see it. */
function chartText({ columns, events, changes, range, unit }: ChartData): string {
  const shown = columns.timestampMs.flatMap((at, i) => (at >= range.from && at <= range.to ? [i] : []));
  const values = shown.map((i) => columns.value[i]).filter((value): value is number => value !== null);
  if (values.length === 0) return 'No values in this stretch of time.';
  const [low, high] = quantityTexts([Math.min(...values), Math.max(...values)], unit);
  const within = events.filter(
    ({ startedAtMs, endedAtMs }) => startedAtMs <= range.to && (endedAtMs ?? range.to) >= range.from,
  );
  const changed = changes.filter(({ time }) => time >= range.from && time <= range.to).length;
  return (
    `${values.length} values from ${momentText(range.from)} to ${zonedText(range.to)}, between ` +
    `${low} and ${high}, with ${within.length} events${changed === 0 ? '' : ` and ${changed} changes`}. ` +
    'Arrow keys move in time, plus and minus zoom.'
  );
}
