import { useMemo } from 'preact/hooks';
import type { EventAnswer } from '../../../sidecar/wire/schema/event-schema.ts';
import { addressOf, isMuted, subjectName, worstFirst } from '../../view/event-words.ts';
import { counted, timeText } from '../../view/number-words.ts';
import { routeTo } from '../../view/route.ts';
import { type Console, useLoaded, useNow, useOpenEvents } from '../element/hooks.ts';
import { html, type Shown } from '../element/html.ts';
import { Empty, Failure, Loading } from '../element/page-states.ts';
import { EventLine } from './events/event-line.ts';
import { SeriesTile } from './series/series-tile.ts';

/** Series below the events: the worst of those that are watched. */
const TILES = 12;
const TILE_VALUES = 60;
const TILES_EVERY_MS = 10_000;
const LINES_MAX = 60;
const ENDED_MAX = 8;

/** What is wrong at this moment, worst first. */
export function NowPage({ app }: { readonly app: Console }): Shown {
  const { events, total, ended, failure } = useOpenEvents(app);
  const nowMs = useNow(app.source);
  const sorted = useMemo(() => worstFirst(events ?? [], nowMs), [events, Math.floor(nowMs / 10_000)]);
  const waiting = sorted.filter((event) => event.acknowledged === null && !isMuted(event, nowMs));
  if (events === null)
    return failure === null ? html`<${Loading} what="events" />` : html`<${Failure} text=${failure} />`;
  const isPast = app.source.kind === 'report';
  const headline = total === 0 ? 'Nothing is wrong' : counted(total, 'event is', 'events are');
  const unseen = total > 0 && !isPast && `${waiting.length} not yet acknowledged, `;
  const when = isPast ? ' at its end' : total === 0 ? ' now' : '';
  return html`<div class="page now">
    <header class="page-head">
      <h1>${headline}${total > 0 && ' open'}${when}</h1>
      <p class="aside">${unseen}as of <time>${timeText(nowMs, nowMs)}
      </time></p>
    </header>
    ${failure !== null && html`<${Failure} text=${failure} />`}
    <div class="columns">
      <section aria-label="Open events, worst first" class="wide">
        ${
          sorted.length === 0 &&
          html`<${Empty} title="All series are as expected">
          The next event appears here by itself. <a href=${routeTo('events')}>Earlier events</a> stay in the list.
        <//>`
        }
        ${
          sorted.length > 0 &&
          html`<ol class="lines">
          ${sorted.slice(0, LINES_MAX).map(
            (event) => html`<${EventLine} key=${event.event_id} app=${app} event=${event}
            nowMs=${nowMs} />`,
          )}
        </ol>`
        }
        ${
          total > LINES_MAX &&
          html`<p class="aside"><a
          href=${routeTo('events', null, { open: 'true' })}>All ${total} open events</a></p>`
        }
      </section>
      <aside class="narrow">
        <${ByDetector} events=${sorted} />
        <${JustEnded} app=${app} live=${ended} nowMs=${nowMs} />
      </aside>
    </div>
    <${WorstSeries} app=${app} />
  </div>`;
}

function ByDetector({ events }: { readonly events: readonly EventAnswer[] }): Shown {
  const counts = new Map<string, number>();
  for (const { detector } of events) counts.set(detector, (counts.get(detector) ?? 0) + 1);
  if (counts.size === 0) return null;
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  const most = sorted[0][1];
  return html`<section class="panel"><h2>By detector</h2>
    <ul class="bars">${sorted.map(
      ([detector, count]) => html`<li><a href=${routeTo('events', null, { open: 'true', detector })}>
        <span class="name">${detector}</span><span class="figure">${count}</span>
        <meter min="0" max=${most} value=${count} aria-hidden="true" /></a></li>`,
    )}</ul></section>`;
}

interface JustEndedProps {
  readonly app: Console;
  readonly live: readonly EventAnswer[];
  readonly nowMs: number;
}

function JustEnded({ app, live, nowMs }: JustEndedProps): Shown {
  const earlier = useLoaded('ended', () => app.source.events({ open: false, limit: ENDED_MAX }));
  const byId = new Map([...(earlier.value?.events ?? []), ...live].map((event) => [event.event_id, event]));
  const rows = [...byId.values()].sort((a, b) => (b.ended_at ?? 0) - (a.ended_at ?? 0)).slice(0, ENDED_MAX);
  if (rows.length === 0) return null;
  return html`<section class="panel"><h2>Ended last</h2>
    <ul class="ended">${rows.map(
      (event) => html`<li><a href=${addressOf(event)}>
        <span class="name" title=${subjectName(event)}>${subjectName(event)}</span>
        <time>${event.ended_at !== null && timeText(event.ended_at, nowMs)}</time></a></li>`,
    )}</ul></section>`;
}

function WorstSeries({ app }: { readonly app: Console }): Shown {
  const load = () => app.source.seriesList({ sort: 'grade', limit: TILES, recent: TILE_VALUES });
  const { value, failure } = useLoaded('worst', load, TILES_EVERY_MS);
  if (failure !== null && value === null) return html`<${Failure} text=${failure} />`;
  if (value === null || value.series.length === 0) return null;
  return html`<section aria-label="Most unusual series">
    <h2>Most unusual of ${counted(value.total, 'series', 'series')}</h2>
    <ul class="tiles">${value.series.map((row) => html`<${SeriesTile} key=${row.id} row=${row} />`)}</ul>
  </section>`;
}
