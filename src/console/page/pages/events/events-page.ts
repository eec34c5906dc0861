import { useMemo, useState } from 'preact/hooks';
import type { EventAnswer } from '../../../../sidecar/wire/schema/event-schema.ts';
import { KINDS, kindName, subjectName } from '../../../view/event-words.ts';
import { counted } from '../../../view/number-words.ts';
import { type Route, routeTo } from '../../../view/route.ts';
import { EventSparkline } from '../../chart/event-sparkline.ts';
import { EventTimeline } from '../../chart/event-timeline.ts';
import { type Console, useLoaded, useNow } from '../../element/hooks.ts';
import { html, type Shown } from '../../element/html.ts';
import { Empty, Failure, Loading } from '../../element/page-states.ts';
import { EventDetail } from './event-detail.ts';
import { EventTable } from './event-table.ts';

const PAGE_ROWS = 100;
const EVERY_MS = 15_000;
const DAY_MS = 86_400_000;
const SPANS: readonly (readonly [string, string, number])[] = [
  ['1', 'last day', DAY_MS],
  ['7', 'last week', 7 * DAY_MS],
  ['30', 'last 30 days', 30 * DAY_MS],
];

/** Events by time and as a list, or the one of the address. */
export function EventsPage({ app, route }: { readonly app: Console; readonly route: Route }): Shown {
  const { subject } = route;
  if (subject !== null) return html`<${OneEvent} key=${subject} app=${app} id=${subject} />`;
  return html`<${AllEvents} app=${app} query=${route.query} />`;
}

function OneEvent({ app, id }: { readonly app: Console; readonly id: string }): Shown {
  const { value, failure, reload } = useLoaded(id, () => app.source.event(id), EVERY_MS);
  const nowMs = useNow(app.source, 5_000);
  return html`<div class="page">
    <header class="page-head"><h1>${value === null ? 'Event' : subjectName(value)}</h1>
      <p class="aside"><a href=${routeTo('events')}>All events</a></p></header>
    ${failure !== null && html`<${Failure} text=${failure} />`}
    ${value === null && failure === null && html`<${Loading} what="the event" />`}
    ${
      value !== null &&
      html`<${EventDrawings} app=${app} event=${value} />
      <${EventDetail} app=${app} event=${value} nowMs=${nowMs} onChanged=${reload} />`
    }
  </div>`;
}

const DRAWN_MAX = 8;

/** The series of the event, or those members of its group that have the largest shares, at the time of the event. */
function EventDrawings({ app, event }: { readonly app: Console; readonly event: EventAnswer }): Shown {
  const { event_id, series_id } = event;
  const own = series_id === null ? event.members.map((member) => member.series_id) : [series_id];
  return html`<ul class="drawings">${own.slice(0, DRAWN_MAX).map(
    (series) => html`<li class="tile" key=${series}><a href=${routeTo('series', series, { event: event_id })}>
      <span class="name" title=${series}>${series}</span>
      <${EventSparkline} source=${app.source} event=${{ ...event, series_id: series, members: [] }} width=${600}
        height=${90} />
    </a></li>`,
  )}</ul>`;
}

interface AllEventsProps {
  readonly app: Console;
  readonly query: Route['query'];
}

function AllEvents({ app, query }: AllEventsProps): Shown {
  const { open = '', kind = '', detector = '', series = '', days = '' } = query;
  const span = SPANS.find(([name]) => name === days)?.[2];
  const key = JSON.stringify(query);
  const filter = {
    kind,
    detector,
    series,
    limit: PAGE_ROWS,
    ...(open === '' ? {} : { open: open === 'true' }),
    ...(span === undefined ? {} : { from: Math.round(app.source.nowMs() - span) }),
  };
  const first = useLoaded(key, () => app.source.events(filter), EVERY_MS);
  const [added, setAdded] = useState<{ key: string; events: readonly EventAnswer[]; next: string | null } | null>(null);
  const nowMs = useNow(app.source, 5_000);
  const more = added?.key === key ? added : null;
  const next = more === null ? (first.value?.next_cursor ?? null) : more.next;
  const rows = useMemo(() => {
    const all = [...(first.value?.events ?? []), ...(more?.events ?? [])];
    return [...new Map(all.map((event) => [event.event_id, event])).values()];
  }, [first.value, more]);
  const readMore = async () => {
    const page = await app.source.events({ ...filter, cursor: next ?? '' });
    setAdded({ key, events: [...(more?.events ?? []), ...page.events], next: page.next_cursor });
  };
  return html`<div class="page">
    <header class="page-head"><h1>Events</h1>
      <p class="aside">
      ${
        first.value !== null &&
        `${counted(rows.length, 'event')}${next === null ? '' : ' so far'}, ${first.value.total_open} open`
      }</p>
      <${EventFilters} query=${query} />
    </header>
    ${first.failure !== null && html`<${Failure} text=${first.failure} />`}
    ${first.value === null && first.failure === null && html`<${Loading} what="events" />`}
    ${
      first.value !== null &&
      rows.length === 0 &&
      html`<${Empty} title="No such event">
      ${
        Object.keys(query).length > 0
          ? html`No event fits these filters. <a href=${routeTo('events')}>Show all</a>`
          : 'Events appear when series leave what is expected of them.'
      }
    <//>`
    }
    ${
      rows.length > 0 &&
      html`<${EventTimeline} events=${rows} nowMs=${nowMs} />
      <${EventTable} events=${rows} nowMs=${nowMs} />`
    }
    ${next !== null && html`<p class="more"><button type="button" onClick=${readMore}>More</button></p>`}
  </div>`;
}

function EventFilters({ query }: { readonly query: Route['query'] }): Shown {
  const { open = '', kind = '', detector = '', series = '', days = '' } = query;
  const choose = (name: string) => (event: Event) =>
    location.replace(routeTo('events', null, { ...query, [name]: (event.target as HTMLInputElement).value }));
  return html`<form class="filters" onSubmit=${(event: Event) => event.preventDefault()}>
    <label class="sr" for="f-open">State</label>
    <select id="f-open" value=${open} onChange=${choose('open')}>
      <option value="">open and ended</option><option value="true">open</option><option value="false">ended</option>
      </select>
    <label class="sr" for="f-kind">Kind</label>
    <select id="f-kind" value=${kind} onChange=${choose('kind')}>
      <option value="">every kind</option>
      ${Object.keys(KINDS).map((name) => html`<option value=${name}>${kindName(name)}</option>`)}</select>
    <label class="sr" for="f-days">Time</label>
    <select id="f-days" value=${days} onChange=${choose('days')}>
      <option value="">all that is kept</option>
      ${SPANS.map(([name, text]) => html`<option value=${name}>${text}</option>`)}</select>
    <label class="sr" for="f-series">Series</label>
    <input id="f-series" type="search" placeholder="series" value=${series} onChange=${choose('series')} />
    <label class="sr" for="f-detector">Detector</label>
    <input id="f-detector" type="text" placeholder="detector" value=${detector} onChange=${choose('detector')} />
  </form>`;
}
