import { useState } from 'preact/hooks';
import type { ShownChange } from '../../../../api/wire/schema/operations/change-schema.ts';
import type { EventAnswer } from '../../../../api/wire/schema/operations/event-schema.ts';
import { quantityTexts } from '../../../../records/text/quantity-text.ts';
import type { ConsoleSource } from '../../../view/console-source.ts';
import { COMPARED_WITH } from '../../../view/scores/compared.ts';
import { NO_SCORES, type ShownScores, scoresCsv, type TimeRange, zoomed } from '../../../view/scores/shown-scores.ts';
import { HOUR_MS } from '../../../view/words/mute-words.ts';
import { momentOf, momentText, zonedText, zoneOfTimes } from '../../../view/words/value-words.ts';
import { ChartView } from '../../chart/chart-view.ts';
import { Overview } from '../../chart/overview.ts';
import type { ValueAxis } from '../../chart/score-chart.ts';
import { useAddressed, useLoaded } from '../../element/hooks.ts';
import { Failure, html, Icon, Loading, type Shown, typedIn } from '../../element/html.ts';
import { saveFile } from '../../element/save-file.ts';
import { useUnit } from '../../element/units.ts';
import { useComparedValues } from '../../source/compared-values.ts';
import type { SeriesHistoryState } from '../../source/series-history.ts';
import { ChangeList } from '../events/change-list.ts';

const CHANGES_MAX = 1_000;
const CHANGES_EVERY_MS = 10_000;
const NONE: readonly ShownChange[] = [];

interface SeriesChartProps {
  readonly source: ConsoleSource;
  readonly series: string;
  readonly history: SeriesHistoryState;
  readonly events: readonly EventAnswer[];
  readonly chosen: string | null;
  /** Its start, if it is shown alone. */
  readonly beganMs?: number;
  readonly nowMs: number;
}

/** A series over time: what was observed, what was expected, its events; with buttons, keys and an overview. */
export function SeriesChart(props: SeriesChartProps): Shown {
  const { source, series, history, events, chosen, beganMs = null, nowMs } = props;
  const [name, setName] = useAddressed('compare', '');
  const [axisName, setAxis] = useAddressed('axis', 'fit');
  const axis = isValueAxis(axisName) ? axisName : 'fit';
  const compared = useComparedValues({ source, series, name }, history);
  const [point, setPoint] = useState<number | null>(null);
  const unit = useUnit(history.about?.detector ?? '');
  const changes = useChanges(source, series);
  const { columns, failure } = history;
  if (history.range === null && failure !== null) return html`<${Failure} text=${failure} />`;
  // Keeps its place while scores are read: a button below that moves under the pointer loses its click.
  const range = history.range ?? { from: nowMs - HOUR_MS, to: nowMs };
  const fileName = `${series.replaceAll(/[^\w.-]+/g, '-')}-${momentText(range.from).replaceAll(/[: ]/g, '-')}`;
  const saveCsv = () =>
    saveFile(`${fileName}.csv`, new Blob([scoresCsv(series, columns, range)], { type: 'text/csv' }));
  const chartKey = JSON.stringify([axis, unit, zoneOfTimes()]);
  const zoom = (factor: number) => history.setRange(zoomed(range, factor, (range.from + range.to) / 2));
  return html`${failure !== null && html`<${Failure} text=${failure} />`}
    <div class="panel chart-panel" inert=${history.range === null}>
      <div class="toolbar" role="toolbar" aria-label="Time">
        <button type="button" class="small" onClick=${() => history.pan(-0.5)} aria-label="Earlier"><${Icon}
          name="back" /></button>
        <button type="button" class="small" onClick=${() => history.pan(0.5)} aria-label="Later"><${Icon}
          name="forth" /></button>
        <button type="button" class="small" onClick=${() => zoom(0.5)} aria-label="Zoom in">
          <${Icon} name="in" /></button>
        <button type="button" class="small" onClick=${() => zoom(2)} aria-label="Zoom out">
          <${Icon} name="out" /></button>
        ${history.spans.map(
          ({ name, ms }) => html`<button type="button" class="small text"
          onClick=${() => history.showLast(ms)}>${name}</button>`,
        )}
        ${
          source.kind === 'service' &&
          html`<button type="button" class="small text" aria-pressed=${history.live}
          onClick=${history.goLive}>Live</button>`
        }
        <${Readout} columns=${columns} point=${point} unit=${unit} />
      </div>
      <${ChartChoices} range=${range} onRange=${history.setRange} compared=${name} onCompared=${setName}
        axis=${axis} onAxis=${setAxis} onCsv=${saveCsv} />
      <${ChartView} key=${chartKey} axis=${axis} unit=${unit} changes=${changes} compared=${compared}
        columns=${columns} events=${events} chosen=${chosen} range=${range} nowMs=${nowMs} onRange=${history.setRange}
        onPoint=${setPoint} />
      <${Overview} whole=${history.whole} range=${range} events=${events} onRange=${history.setRange} />
      <p class="legend"><span class="key-value">value</span><span class="key-forecast">forecast</span><span
        class="key-band">expected interval</span>
        <span class="key-event">event</span><span class="key-alarm">alarm</span><span
          class="key-grade">grade (below)</span>${
            compared !== null && html`<span class="key-compared">${COMPARED_WITH[name].name}</span>`
          }${changes.length > 0 && html`<span class="key-change">change</span>`}</p>
    </div>
    <${ChangeList} changes=${changes.filter(({ time }) => time >= range.from && time <= range.to)} beganMs=${beganMs}
      nowMs=${nowMs} />`;
}

/** Changes that concern the series; none while they cannot be read. */
function useChanges(source: ConsoleSource, series: string): readonly ShownChange[] {
  const load = () => source.changes({ series, limit: CHANGES_MAX });
  return useLoaded(`changes of ${series}`, load, source.kind === 'service' ? CHANGES_EVERY_MS : null).value ?? NONE;
}

interface ReadoutProps {
  readonly columns: ShownScores;
  readonly point: number | null;
  readonly unit: string | null;
}

/** The numbers under the cursor, or the newest ones. */
function Readout({ columns, point, unit }: ReadoutProps): Shown {
  const i = point ?? columns.timestampMs.length - 1;
  if (columns.timestampMs[i] === undefined) {
    // Those of a stretch without scores are another object.
    return html`<div class="readout">${columns === NO_SCORES && html`<${Loading} what="scores" />`}</div>`;
  }
  const { timestampMs, value, forecast, lo, hi, grade, value_min: min, value_max: max } = columns;
  const shown = [value[i], forecast[i], lo[i], hi[i], min[i], max[i]];
  const [valueText, forecastText, loText, hiText, minText, maxText] = quantityTexts(shown, unit);
  const interval = lo[i] === null || hi[i] === null ? '–' : `${loText} … ${hiText}`;
  return html`<dl class="readout">
    <div><dt>at</dt><dd>${zonedText(timestampMs[i])}</dd></div>
    <div><dt>value</dt><dd>${min[i] !== max[i] ? `${minText} … ${maxText}` : valueText}</dd></div>
    <div><dt>forecast</dt><dd>${forecastText}</dd></div>
    <div><dt>interval</dt><dd>${interval}</dd></div>
    <div><dt>grade</dt><dd>${grade[i] === null || grade[i] === undefined ? '–' : (grade[i] as number).toFixed(2)}</dd>
    </div>
  </dl>`;
}

const AXES: Readonly<Record<ValueAxis, string>> = {
  fit: 'fitted to the values',
  zero: 'from zero',
  log: 'logarithmic',
};

const isValueAxis = (name: string): name is ValueAxis => Object.hasOwn(AXES, name);

interface ChartChoicesProps {
  readonly range: TimeRange;
  readonly onRange: (range: TimeRange) => void;
  readonly compared: string;
  readonly onCompared: (name: string) => void;
  readonly axis: ValueAxis;
  readonly onAxis: (name: string) => void;
  readonly onCsv: () => void;
}

/** Exact times, an earlier range to compare with, the axis, and a file of the values. */
function ChartChoices(props: ChartChoicesProps): Shown {
  const { range, onRange, compared, onCompared, axis, onAxis, onCsv } = props;
  const set = (end: keyof TimeRange) => (event: Event) => {
    const at = momentOf(typedIn(event));
    const next = { ...range, [end]: at };
    if (Number.isFinite(at) && next.from < next.to) onRange(next);
  };
  return html`<div class="toolbar choices">
    <label title=${zoneOfTimes()}>From<input type="datetime-local" step="1" value=${inputTime(range.from)}
      onChange=${set('from')} /></label>
    <label title=${zoneOfTimes()}>To<input type="datetime-local" step="1" value=${inputTime(range.to)}
      onChange=${set('to')} /></label>
    <label>Compare with<select value=${compared} onChange=${(event: Event) => onCompared(typedIn(event))}>
      <option value="">nothing</option>
      ${Object.entries(COMPARED_WITH).map(([key, { name }]) => html`<option value=${key}>${name}</option>`)}
    </select></label>
    <label>Axis<select value=${axis} onChange=${(event: Event) => onAxis(typedIn(event))}>
      ${Object.entries(AXES).map(([key, name]) => html`<option value=${key}>${name}</option>`)}</select></label>
    <button type="button" class="small text" onClick=${onCsv}>CSV</button>
  </div>`;
}

/** The shown clock as the input has it. */
const inputTime = (at: number) => momentText(at).replace(' ', 'T');
