import { urgency } from '../../../../record/urgency.ts';
import { numberText } from '../../../view/number-words.ts';
import { routeTo } from '../../../view/route.ts';
import { NO_SCORES, type ShownSeries } from '../../../view/shown-scores.ts';
import { SparkDrawing } from '../../chart/event-sparkline.ts';
import { classes, html, type Shown } from '../../element/html.ts';

/** A series with its newest values, as a link to its page. */
export function SeriesTile({ row }: { readonly row: ShownSeries }): Shown {
  const { id, value, grade, recent = [], state } = row;
  const none = recent.map(() => null);
  const columns = {
    ...NO_SCORES,
    timestamp: recent.map((_, i) => i),
    value: recent,
    lo: none,
    hi: none,
    alarms: recent.map(() => 0),
  };
  return html`<li class=${classes('tile', `urgency-${urgency(row.grade)}`)}>
    <a href=${routeTo('series', id)}>
      <span class="name" title=${id}>${id}</span>
      <span class="figure">${numberText(value)}</span>
      <${SparkDrawing} columns=${columns} width=${180} height=${30} />
      <span class="of">
      ${state === 'scored' ? `grade ${grade === null ? '–' : grade.toFixed(2)}` : state.replaceAll('-', ' ')}</span>
    </a>
  </li>`;
}
