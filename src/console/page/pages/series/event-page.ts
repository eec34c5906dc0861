import { useMemo } from 'preact/hooks';
import type { EventAnswer } from '../../../../api/wire/schema/operations/event-schema.ts';
import { visibleId } from '../../../../records/series/listed-names.ts';
import { eventUrgency } from '../../../../records/urgency.ts';
import { routeTo } from '../../../view/route.ts';
import { addressOf, kindName, subjectName, worstFirst } from '../../../view/words/event-words.ts';
import { counted, elapsedText, timeText } from '../../../view/words/value-words.ts';
import { EventSparkline } from '../../chart/event-sparkline.ts';
import { type Console, type Props, useLoaded, useNow } from '../../element/hooks.ts';
import { classes, Failure, html, Icon, Loading, type Shown } from '../../element/html.ts';
import { CopyId, Name, SharedName, useNames } from '../../element/series-name.ts';
import { useSeriesHistory } from '../../source/series-history.ts';
import { EventDetail } from '../events/event-detail.ts';
import { SentOf } from '../events/sent-list.ts';
import { SeriesChart } from './series-chart.ts';
import { SeriesEvents } from './series-events.ts';

const EVERY_MS = 15_000;
const SERIES_EVENTS_MAX = 200;
const DRAWN_MAX = 8;
/** Events that began so long before belong to the same time. */
const BEFORE_MS = 600_000;
const SAME_TIME_MAX = 200;
const SAME_TIME_SHOWN_MAX = 10;

/** One event: its chart, why it was raised, other events of its series, and events of other series at the time. */
export function EventPage({ app, route }: Props<'app' | 'route'>): Shown {
  const id = route.subject ?? '';
  const { value, failure, reload } = useLoaded(id, () => app.source.event(id), EVERY_MS);
  const nowMs = useNow(app.source, 5_000);
  const shown = value === null ? null : chartedSeries(value);
  return html`<div class="page series">
    <header class="page-head"><h1>${
      value === null ? 'Event' : html`${visibleId(subjectName(value))}<${CopyId} id=${subjectName(value)} />`
    }</h1>
      <p class="aside"><a href=${routeTo('events')}>All events</a>
        ${shown !== null && html`, <a href=${routeTo('series', shown, { event: id })} title=${shown}>series</a>`}${
          value !== null &&
          value.incidentId !== null &&
          html`, <a href=${routeTo('incidents', value.incidentId)}>incident</a>`
        }</p></header>
    ${failure !== null && html`<${Failure} text=${failure} />`}
    ${value === null && failure === null && html`<${Loading} what="the event" />`}
    ${
      value !== null &&
      html`${
        shown !== null && html`<${EventChart} key=${shown} app=${app} event=${value} series=${shown} nowMs=${nowMs} />`
      }
      ${value.members.length > 0 && html`<${Members} app=${app} event=${value} />`}
      <div class="columns">
        <section class="wide" aria-label="Why it was flagged">
          <${EventDetail} app=${app} event=${value} nowMs=${nowMs} onChanged=${reload} />
        </section>
        <aside class="narrow">
          ${
            app.source.kind === 'service' &&
            html`<${SentOf} app=${app} event=${value.eventId} incident=${value.incidentId} />`
          }
          <${SameTime} app=${app} event=${value} nowMs=${nowMs} />
          ${shown !== null && html`<${OtherEventsOfSeries} app=${app} event=${value} series=${shown} nowMs=${nowMs} />`}
        </aside>
      </div>`
    }
  </div>`;
}

/** Its own series, or the member of its group with the largest share; null for a pause of a whole detector. */
function chartedSeries({ series, members }: EventAnswer): string | null {
  return series ?? members[0]?.series ?? null;
}

function useSeriesEvents({ source }: Console, series: string): readonly EventAnswer[] | null {
  const load = () => source.events({ series, limit: SERIES_EVENTS_MAX });
  return useLoaded(`events of ${series}`, load, EVERY_MS).value?.events ?? null;
}

function EventChart({ app, event, series, nowMs }: Props<'app' | 'event' | 'series' | 'nowMs'>): Shown {
  const found = useSeriesEvents(app, series);
  const events = useMemo(
    () => [event, ...(found ?? []).filter(({ eventId }) => eventId !== event.eventId)],
    [event, found],
  );
  const history = useSeriesHistory(app.source, { series, focus: event, ready: true });
  return html`<${SeriesChart} source=${app.source} series=${series} history=${history} events=${events}
    chosen=${event.eventId} beganMs=${event.startedAtMs} nowMs=${nowMs} />`;
}

/** Members of a group, those with the largest shares first. */
function Members({ app, event }: Props<'app' | 'event'>): Shown {
  const names = useNames(event.members.map(({ series }) => series));
  return html`<${SharedName} names=${names} /><ul class="drawings">${event.members.slice(0, DRAWN_MAX).map(
    ({ series }) => html`<li class="tile" key=${series}><a
      href=${routeTo('series', series, { event: event.eventId })}>
      <${Name} id=${series} names=${names} />
      <${EventSparkline} source=${app.source} event=${{ ...event, series, members: [] }} width=${600}
        height=${90} />
    </a></li>`,
  )}</ul>`;
}

function OtherEventsOfSeries({ app, event, series, nowMs }: Props<'app' | 'event' | 'series' | 'nowMs'>): Shown {
  const events = useSeriesEvents(app, series);
  if (events === null || events.length < 2) return null;
  return html`<${SeriesEvents} series=${series} events=${events} chosen=${event.eventId} nowMs=${nowMs} />`;
}

/** Events of other series that were open from shortly before its start to its end. */
function SameTime({ app, event, nowMs }: Props<'app' | 'event' | 'nowMs'>): Shown {
  const { eventId, startedAtMs, endedAtMs } = event;
  const range = { from: startedAtMs - BEFORE_MS, ...(endedAtMs === null ? {} : { to: endedAtMs + 1 }) };
  const load = () => app.source.events({ ...range, limit: SAME_TIME_MAX });
  const { value } = useLoaded(`at the time of ${eventId}`, load, EVERY_MS);
  const others = worstFirst(
    (value?.events ?? []).filter((other) => other.eventId !== eventId),
    nowMs,
  );
  const shown = others.slice(0, SAME_TIME_SHOWN_MAX);
  const names = useNames(shown.map(subjectName));
  if (value === null) return null;
  const more = value.next_cursor === null ? '' : ' and more';
  return html`<section class="panel"><h2>At the same time</h2>
    <p class="aside">${others.length === 0 ? 'No other event.' : `${counted(others.length, 'other event')}${more}`}</p>
    <${SharedName} names=${names} />
    <ul class="event-list">${shown.map(
      (other) => html`<li key=${other.eventId} class=${classes(`urgency-${eventUrgency(other)}`)}>
        <a href=${addressOf(other)}>
          <span title=${kindName(other.kind)}><${Icon} name=${other.kind} /> <${Name} id=${subjectName(other)}
            names=${names} /></span>
          <time>${timeText(other.startedAtMs, nowMs)}</time>
          <span class="figure" title="Start relative to this event">
            ${startText(other.startedAtMs - startedAtMs)}</span>
        </a></li>`,
    )}</ul></section>`;
}

/** `−41 s` before it, `+2 min` after it. */
function startText(ms: number): string {
  if (ms === 0) return '±0 s';
  return `${ms < 0 ? '−' : '+'}${elapsedText(Math.abs(ms))}`;
}
