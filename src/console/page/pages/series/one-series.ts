import { useMemo, useState } from 'preact/hooks';
import { momentText, numberText } from '../../../view/number-words.ts';
import type { ShownScores } from '../../../view/shown-scores.ts';
import { zoomed } from '../../../view/time-range.ts';
import { ChartView } from '../../chart/chart-view.ts';
import { Overview } from '../../chart/overview.ts';
import { type Console, useLoaded, useNow } from '../../element/hooks.ts';
import { html, type Shown } from '../../element/html.ts';
import { Icon } from '../../element/icons.ts';
import { Failure, Loading } from '../../element/page-states.ts';
import { useSeriesHistory } from '../../source/series-history.ts';
import { EventDetail } from '../events/event-detail.ts';
import { Neighbours } from './neighbours.ts';
import { SeriesEvents } from './series-events.ts';

const EVENTS_MAX = 200;
const EVENTS_EVERY_MS = 10_000;

interface OneSeriesProps {
  readonly app: Console;
  readonly series: string;
  /** The event that led here; null where there was none. */
  readonly eventId: string | null;
}

/** A series: what was observed, what was expected, and why it was flagged. */
export function OneSeries({ app, series, eventId }: OneSeriesProps): Shown {
  const { source } = app;
  const loadEvents = () => source.events({ series, limit: EVENTS_MAX });
  const { value: found, reload } = useLoaded(series, loadEvents, source.kind === 'service' ? EVENTS_EVERY_MS : null);
  const events = useMemo(() => found?.events ?? [], [found]);
  const chosen = events.find(({ event_id }) => event_id === eventId) ?? events[0] ?? null;
  const focus = events.find(({ event_id }) => event_id === eventId) ?? null;
  const history = useSeriesHistory(source, { series, focus, ready: eventId === null || found !== null });
  const [point, setPoint] = useState<number | null>(null);
  const nowMs = useNow(source, 5_000);
  const { columns, range, about, failure } = history;
  if (range === null || about === null) {
    return html`<div class="page"><h1 class="series-name">${series}</h1>
      ${failure === null ? html`<${Loading} what="scores" />` : html`<${Failure} text=${failure} />`}</div>`;
  }
  return html`<div class="page series">
    <header class="page-head">
      <h1 class="series-name">${series}</h1>
      <p class="aside">${about.detector}${about.group !== null && `, in group ${about.group}`}</p>
    </header>
    ${failure !== null && html`<${Failure} text=${failure} />`}
    <div class="panel chart-panel">
      <div class="toolbar" role="toolbar" aria-label="Time">
        <button type="button" class="small" onClick=${() => history.pan(-0.5)} aria-label="Earlier"><${Icon}
          name="back" /></button>
        <button type="button" class="small" onClick=${() => history.pan(0.5)} aria-label="Later"><${Icon}
          name="forth" /></button>
        <button type="button" class="small"
          onClick=${() => history.setRange(zoomed(range, 0.5, (range.from + range.to) / 2))} aria-label="Zoom in">
          <${Icon} name="in" /></button>
        <button type="button" class="small"
          onClick=${() => history.setRange(zoomed(range, 2, (range.from + range.to) / 2))} aria-label="Zoom out">
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
        <${Readout} columns=${columns} point=${point} />
      </div>
      <${ChartView} columns=${columns} events=${events} chosen=${chosen?.event_id ?? null} range=${range} nowMs=${nowMs}
        onRange=${history.setRange} onPoint=${setPoint} />
      <${Overview} whole=${history.whole} range=${range} events=${events} onRange=${history.setRange} />
      <p class="legend"><span class="key-value">value</span><span class="key-forecast">forecast</span><span
        class="key-band">expected interval</span>
        <span class="key-event">event</span><span class="key-alarm">alarm</span><span
          class="key-grade">grade (below)</span></p>
    </div>
    <div class="columns">
      <section class="wide" aria-label="Why it was flagged">
        ${
          chosen === null
            ? html`<${NotFlagged} columns=${columns} />`
            : html`<${EventDetail} app=${app}
          event=${chosen} nowMs=${nowMs} onChanged=${reload} />`
        }
      </section>
      <aside class="narrow">
        <${SeriesEvents} series=${series} events=${events} chosen=${chosen?.event_id ?? null} nowMs=${nowMs} />
        <${Neighbours} app=${app} series=${series} group=${about.group} />
      </aside>
    </div>
  </div>`;
}

interface ReadoutProps {
  readonly columns: ShownScores;
  readonly point: number | null;
}

/** The numbers under the cursor, or the newest ones. */
function Readout({ columns, point }: ReadoutProps): Shown {
  const i = point ?? columns.timestamp.length - 1;
  if (i < 0 || columns.timestamp[i] === undefined) return null;
  const { timestamp, value, forecast, lo, hi, grade, value_min: min, value_max: max } = columns;
  const interval = lo[i] === null || hi[i] === null ? '–' : `${numberText(lo[i])} … ${numberText(hi[i])}`;
  return html`<dl class="readout">
    <div><dt>at</dt><dd>${momentText(timestamp[i])}</dd></div>
    <div><dt>value</dt><dd>
    ${min[i] !== max[i] ? `${numberText(min[i])} … ${numberText(max[i])}` : numberText(value[i])}</dd>
    </div>
    <div><dt>forecast</dt><dd>${numberText(forecast[i])}</dd></div>
    <div><dt>interval</dt><dd>${interval}</dd></div>
    <div><dt>grade</dt><dd>${grade[i] === null || grade[i] === undefined ? '–' : (grade[i] as number).toFixed(2)}</dd>
    </div>
  </dl>`;
}

function NotFlagged({ columns }: { readonly columns: ShownScores }): Shown {
  const [value, lo, hi] = [columns.value.at(-1) ?? null, columns.lo.at(-1) ?? null, columns.hi.at(-1) ?? null];
  const inside = value !== null && lo !== null && hi !== null && value >= lo && value <= hi;
  return html`<div class="panel"><h2>Nothing was flagged</h2>
    <p>${
      inside
        ? `The newest value, ${numberText(value)}, is between ${numberText(lo)} and ${numberText(hi)}, as expected.`
        : 'No event of this series is kept.'
    }</p></div>`;
}
