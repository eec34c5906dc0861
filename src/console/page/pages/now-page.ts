import { useMemo } from 'preact/hooks';
import type { EventAnswer } from '../../../api/wire/schema/operations/event-schema.ts';
import { groupsBy, labelledEvent } from '../../view/label-groups.ts';
import { parseRoute, routeTo } from '../../view/route.ts';
import { addressOf, mutedNow, subjectName, worstFirst } from '../../view/words/event-words.ts';
import { incidentsStalled, namedOrigins } from '../../view/words/incident-words.ts';
import { behindText, counted, timeText, zonedText } from '../../view/words/value-words.ts';
import { GroupChoice, GroupName, TypedFilter } from '../element/grouped.ts';
import { type Props, useFreshness, useLoaded, useNow, useOpenEvents } from '../element/hooks.ts';
import { Empty, Failure, html, Loading, type Shown } from '../element/html.ts';
import { Meanings } from '../element/meanings.ts';
import { Name, SharedName, useNames } from '../element/series-name.ts';
import { EventLine } from './events/event-line.ts';
import { IncidentEntry } from './incidents/incident-line.ts';
import { SeriesTile } from './series/series-tile.ts';

/** Series below the events: the worst of those that are watched. */
const TILES = 12;
const TILE_VALUES = 60;
const TILES_EVERY_MS = 10_000;
const LINES_MAX = 60;
const ENDED_MAX = 8;

export function NowPage({ app, route }: Props<'app' | 'route'>): Shown {
  const { match = '', by = '' } = route.query;
  const { events, total, incidents, incidentsTotal, ended, failure, freshness: known } = useOpenEvents(app);
  const nowMs = useNow(app.source);
  const freshness = useFreshness(app);
  const sorted = useMemo(() => worstFirst(events ?? [], nowMs), [events, Math.floor(nowMs / 10_000)]);
  const shownIncidents = worstFirst(incidents, nowMs).slice(0, LINES_MAX);
  const shownIds = new Set(shownIncidents.map(({ incidentId }) => incidentId));
  const alone = sorted.filter(({ incidentId }) => incidentId === null || !shownIds.has(incidentId));
  const shownEvents = alone.slice(0, LINES_MAX);
  const names = useNames(shownEvents.map(subjectName));
  const originNames = useNames(shownIncidents.flatMap(namedOrigins));
  const stalled = total === 0 ? null : incidentsStalled(known, nowMs);
  const waiting = sorted.filter((event) => event.acknowledged === null && mutedNow(event, nowMs) === null);
  if (events === null || (freshness === null && app.source.kind === 'service'))
    return failure === null
      ? html`<${Loading} what="events" />`
      : html`<div class="page"><header class="page-head"><h1>Now</h1></header><${Failure} text=${failure} />
        <p><a href=${routeTo('backtest')}>Backtest a file</a></p></div>`;
  const go = (name: string, value: string) =>
    location.replace(routeTo('now', null, { ...parseRoute(location.hash).query, [name]: value }));
  const isKnown = freshness?.isCurrent === true;
  const nothing = isKnown ? 'Nothing is wrong' : 'No open event is known';
  const asExpected = isKnown ? 'All scored series are as expected' : 'The present state is unknown';
  const isQuiet = total === 0 && incidentsTotal === 0;
  const openEvents = counted(total, 'event is', 'events are');
  const headline = isQuiet
    ? nothing
    : incidentsTotal === 0
      ? openEvents
      : counted(incidentsTotal, 'incident is', 'incidents are');
  const unseen = total > 0 && `${waiting.length} not yet acknowledged, `;
  const outside = incidentsTotal > 0 && `${counted(total, 'event')}, ${alone.length} outside incidents, `;
  const when = isQuiet && isKnown ? ' now' : '';
  return html`<div class="page now">
    <header class="page-head">
      <h1>${headline}${!isQuiet && ' open'}${when}</h1>
      <p class="aside">${outside}${unseen}as of <time>${zonedText(nowMs)}</time>${behindText(nowMs, Date.now())}</p>
      <form class="filters" onSubmit=${(event: Event) => event.preventDefault()}>
        <${TypedFilter} name="match" label="Only series with this text, this glob or these labels"
          hint="Series, or {team=…}" value=${match}
          onTyped=${(text: string) => go('match', text)} />
        <${GroupChoice} all=${sorted.map(labelledEvent)} by=${by} onBy=${(chosen: string) => go('by', chosen)} />
      </form>
    </header>
    ${failure !== null && html`<${Failure} text=${failure} />`}
    ${stalled !== null && html`<p class=${known?.incidents ? 'not-current' : 'aside'} role="status">${stalled}</p>`}
    ${
      (known?.other_clusters.length ?? 0) > 0 &&
      html`<p class="aside">DATA_DIR also has the history of another Kafka cluster, which is not shown: <code
        >${known?.other_clusters.join(', ')}</code></p>`
    }
    <div class="columns">
      <section aria-label="What is open, worst first" class="wide">
        ${
          shownIncidents.length > 0 &&
          html`<h2>Incidents</h2><${SharedName} names=${originNames} /><ol class="lines">${shownIncidents.map(
            (incident) => html`<${IncidentEntry} key=${incident.incidentId} app=${app} incident=${incident}
              events=${sorted} names=${originNames} nowMs=${nowMs} />`,
          )}</ol>${alone.length > 0 && html`<h2>Other events</h2>`}`
        }
        ${
          isQuiet &&
          html`<${Empty} title=${asExpected}>
          ${freshness?.isCurrent === true && `${freshness.reason} `}
          <a href=${routeTo('events')}>Earlier events</a>
        <//>`
        }
        ${
          alone.length > 0 &&
          html`<${SharedName} names=${names} />${groupsBy(shownEvents, by, labelledEvent).map(
            (group) => html`<section key=${group.name} class="label-group">
            ${group.name !== null && html`<h3><${GroupName} group=${group} /></h3>`}
            <ol class="lines">
            ${group.items.map(
              (event) => html`<${EventLine} key=${event.eventId} app=${app} event=${event} names=${names}
                nowMs=${nowMs} />`,
            )}</ol></section>`,
          )}<${Meanings} of=${['outside the interval', 'severity']} />`
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

function JustEnded({ app, live, nowMs }: Props<'app' | 'nowMs'> & { readonly live: readonly EventAnswer[] }): Shown {
  const earlier = useLoaded('ended', () => app.source.events({ open: false, limit: ENDED_MAX }));
  const byId = new Map([...(earlier.value?.events ?? []), ...live].map((event) => [event.eventId, event]));
  const rows = [...byId.values()].sort((a, b) => (b.endedAtMs ?? 0) - (a.endedAtMs ?? 0)).slice(0, ENDED_MAX);
  const names = useNames(rows.map(subjectName));
  if (rows.length === 0) return null;
  return html`<section class="panel"><h2>Recently ended</h2><${SharedName} names=${names} />
    <ul class="ended">${rows.map(
      (event) => html`<li><a href=${addressOf(event)}>
        <${Name} id=${subjectName(event)} names=${names} />
        <time>${event.endedAtMs !== null && timeText(event.endedAtMs, nowMs)}</time></a></li>`,
    )}</ul></section>`;
}

function WorstSeries({ app }: Props<'app'>): Shown {
  const load = () => app.source.seriesList({ sort: 'grade', limit: TILES, recent: TILE_VALUES });
  const { value, failure } = useLoaded('worst', load, TILES_EVERY_MS);
  const ended = useOpenEvents(app).freshness?.series.ended ?? 0;
  const shown = (value?.series ?? []).filter((row) => row.ended !== true);
  const names = useNames(shown.map(({ series }) => series));
  if (failure !== null && value === null) return html`<${Failure} text=${failure} />`;
  if (value === null || value.series.length === 0) return null;
  return html`<section aria-label="Most unusual series">
    <h2>Most unusual of ${counted(value.total - ended, 'series', 'series')}</h2>
    <${SharedName} names=${names} />
    <ul class="tiles">${shown.map((row) => html`<${SeriesTile} key=${row.series} row=${row} names=${names} />`)}</ul>
    ${
      ended > 0 &&
      html`<p class="aside"><a href=${routeTo('series')}>${counted(ended, 'series', 'series')} ended</a></p>`
    }
  </section>`;
}
