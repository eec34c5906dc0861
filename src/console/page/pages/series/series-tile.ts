import type { ListedNames } from '../../../../records/series/listed-names.ts';
import { quantityText } from '../../../../records/text/quantity-text.ts';
import { urgency } from '../../../../records/urgency.ts';
import { routeTo } from '../../../view/route.ts';
import { NO_SCORES, type ShownSeries } from '../../../view/scores/shown-scores.ts';
import { dayText } from '../../../view/words/value-words.ts';
import { SparkDrawing } from '../../chart/event-sparkline.ts';
import { classes, html, type Shown } from '../../element/html.ts';
import { CopyId, Name } from '../../element/series-name.ts';
import { useUnit } from '../../element/units.ts';

/** A series with its newest values, as a link to its page. */
export function SeriesTile({ row, names }: { readonly row: ShownSeries; readonly names: ListedNames }): Shown {
  const { series, value, grade, recent = [], state, ended = false, timestampMs } = row;
  const unit = useUnit(row.detector);
  const graded = grade === null ? 'grade –' : `grade ${grade.toFixed(2)}`;
  const text = ended ? `ended ${dayText(timestampMs)}` : state === 'scored' ? graded : state.replaceAll('-', ' ');
  const none = recent.map(() => null);
  const columns = {
    ...NO_SCORES,
    timestampMs: recent.map((_, i) => i),
    value: recent,
    lo: none,
    hi: none,
    alarms: recent.map(() => 0),
  };
  return html`<li class=${classes('tile', `urgency-${urgency(ended ? null : grade)}`, ended && 'stopped')}>
    <a href=${routeTo('series', series)}>
      <${Name} id=${series} names=${names} />
      <span class="figure">${quantityText(value, unit)}</span>
      <${SparkDrawing} columns=${columns} width=${180} height=${30} />
      <span class="of">${text}</span>
    </a><${CopyId} id=${series} names=${names} />
  </li>`;
}
