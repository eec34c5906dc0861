import { quantityTexts } from '../../../records/text/quantity-text.ts';
import { momentText, zonedText } from '../../view/words/time-words.ts';
import type { ChartData } from './score-chart.ts';

/** The chart in a sentence, for those who do not see it. */
export function chartText({ columns, events, changes, range, unit }: ChartData): string {
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
