import type { EventAnswer, EventsAnswer } from '../../../../api/wire/schema/operations/event-schema.ts';
import { chosenMatch } from '../../../view/console-source.ts';
import { labelledEvent } from '../../../view/label-groups.ts';
import { routeTo } from '../../../view/route.ts';
import { KINDS, kindName } from '../../../view/words/event-words.ts';
import { counted } from '../../../view/words/value-words.ts';
import { EventTimeline } from '../../chart/event-timeline.ts';
import { GroupChoice, TypedFilter } from '../../element/grouped.ts';
import { type Props, useNow, usePages } from '../../element/hooks.ts';
import { Empty, Failure, html, Loading, type Shown, typedIn } from '../../element/html.ts';
import { EventTable } from './event-table.ts';

const PAGE_ROWS = 100;
const EVERY_MS = 15_000;
const DAY_MS = 86_400_000;
const SPANS: readonly (readonly [string, string, number])[] = [
  ['1', 'last day', DAY_MS],
  ['7', 'last week', 7 * DAY_MS],
  ['30', 'last 30 days', 30 * DAY_MS],
];

const PAGING = {
  rowsOf: ({ events }: EventsAnswer) => events,
  keyOf: ({ eventId }: EventAnswer) => eventId,
  everyMs: EVERY_MS,
};

export function EventsPage({ app, route: { query } }: Props<'app' | 'route'>): Shown {
  const { open = '', kind = '', detector = '', series = '', days = '', incident = '' } = query;
  const span = SPANS.find(([name]) => name === days)?.[2];
  // Order and groups are made here, of what was read.
  const { sort: _, by: __, ...filters } = query;
  const key = JSON.stringify(filters);
  const filter = {
    kind,
    detector,
    incident,
    match: chosenMatch(series),
    limit: PAGE_ROWS,
    ...(open === '' ? {} : { open: open === 'true' }),
    ...(span === undefined ? {} : { from: Math.round(app.source.nowMs() - span) }),
  };
  const load = (cursor: string) => app.source.events({ ...filter, cursor });
  const { value, failure, rows, next, readMore } = usePages(key, load, PAGING);
  const nowMs = useNow(app.source, 5_000);
  return html`<div class="page">
    <header class="page-head"><h1>Events</h1>
      <p class="aside">
      ${
        value !== null && `${counted(rows.length, 'event')}${next === null ? '' : ' so far'}, ${value.total_open} open`
      }</p>
      <${EventFilters} query=${query} events=${rows} />
    </header>
    ${
      incident !== '' &&
      html`<p class="aside">Only events of <a href=${routeTo('incidents', incident)}>one incident</a>. <a
        href=${routeTo('events', null, { ...query, incident: '' })}>Show those of all</a></p>`
    }
    ${failure !== null && html`<${Failure} text=${failure} />`}
    ${value === null && failure === null && html`<${Loading} what="events" />`}
    ${
      value !== null &&
      rows.length === 0 &&
      html`<${Empty} title="No such event">
      ${
        Object.keys(filters).length > 0
          ? html`No event matches these filters. <a href=${routeTo('events')}>Show all</a>`
          : 'Events appear when series deviate from what is expected.'
      }
    <//>`
    }
    ${
      rows.length > 0 &&
      html`<${EventTimeline} events=${rows} nowMs=${nowMs} />
      <${EventTable} events=${rows} nowMs=${nowMs} query=${query} />`
    }
    ${next !== null && html`<p class="more"><button type="button" onClick=${readMore}>More</button></p>`}
  </div>`;
}

function EventFilters({ query, events }: Props<'query' | 'events'>): Shown {
  const { open = '', kind = '', detector = '', series = '', days = '', by = '' } = query;
  const go = (name: string, value: string) => location.replace(routeTo('events', null, { ...query, [name]: value }));
  const choose = (name: string) => (event: Event) => go(name, typedIn(event));
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
      <option value="">all times</option>
      ${SPANS.map(([name, text]) => html`<option value=${name}>${text}</option>`)}</select>
    <${TypedFilter} name="series" label="Series" value=${series} onTyped=${(value: string) => go('series', value)} />
    <${TypedFilter} name="detector" label="Detector" value=${detector}
      onTyped=${(value: string) => go('detector', value)} />
    <${GroupChoice} all=${events.map(labelledEvent)} by=${by} onBy=${(chosen: string) => go('by', chosen)} />
  </form>`;
}
