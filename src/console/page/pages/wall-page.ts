import { useEffect } from 'preact/hooks';
import { eventUrgency } from '../../../record/urgency.ts';
import type { EventAnswer } from '../../../sidecar/wire/schema/event-schema.ts';
import type { IncidentAnswer } from '../../../sidecar/wire/schema/incident-schema.ts';
import { farOutText, isMuted, kindName, subjectName, worstFirst } from '../../view/event-words.ts';
import {
  INCIDENT_KIND_WORDS,
  incidentName,
  incidentsStalled,
  isIncidentMuted,
  worstIncidentsFirst,
} from '../../view/incident-words.ts';
import { groupsBy, labelledEvent } from '../../view/label-groups.ts';
import { counted, elapsedText } from '../../view/number-words.ts';
import { routeTo } from '../../view/route.ts';
import { timeText } from '../../view/time-words.ts';
import { EventSparkline } from '../chart/event-sparkline.ts';
import { groupClass } from '../element/grouped.ts';
import { type Console, useFreshness, useNow, useOpenEvents } from '../element/hooks.ts';
import { classes, html, type Shown } from '../element/html.ts';
import { Icon } from '../element/icons.ts';
import { eventOf } from './incidents/incident-line.ts';

/** What fits on a screen that is read from across a room. */
const TILES_MAX = 12;

interface WallPageProps {
  readonly app: Console;
  /** What tiles are grouped and coloured by; empty: nothing. */
  readonly by: string;
}

/** Now, for a screen on a wall: large, without anything to click but the way back. */
export function WallPage({ app, by }: WallPageProps): Shown {
  const { events, total, incidents, incidentsTotal, connected, freshness: known } = useOpenEvents(app);
  const freshness = useFreshness(app);
  const isCurrent = connected && freshness?.isCurrent === true;
  const notCurrent = freshness?.isCurrent === false ? freshness.reason : 'not connected, what is shown may be old';
  const nowMs = useNow(app.source);
  useEffect(() => {
    const leave = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') location.hash = routeTo('now');
    };
    addEventListener('keydown', leave);
    return () => removeEventListener('keydown', leave);
  }, []);
  const shownIncidents = worstIncidentsFirst(incidents, nowMs)
    .filter((incident) => !isIncidentMuted(incident, nowMs))
    .slice(0, TILES_MAX);
  const ids = new Set(incidents.map(({ incidentId }) => incidentId));
  const alone = (events ?? []).filter(({ incidentId }) => incidentId === null || !ids.has(incidentId));
  const shown = worstFirst(alone, nowMs)
    .filter((event) => !isMuted(event, nowMs))
    .slice(0, TILES_MAX - shownIncidents.length);
  const shownGroups = groupsBy(shown, by, labelledEvent).flatMap((group) =>
    group.items.map((event) => ({ event, group })),
  );
  const tiles = shownIncidents.length + shown.length;
  const more = incidentsTotal + alone.length + total - (events ?? []).length - tiles;
  const what = incidentsTotal > 0 ? counted(incidentsTotal, 'incident') : counted(total, 'event');
  const stalled = incidentsStalled(known, nowMs);
  return html`<main class="wall">
    <header>
      <h1>${total + incidentsTotal === 0 ? (isCurrent ? 'All is as expected' : 'Not known') : `${what} open`}</h1>
      ${isCurrent && stalled !== null && html`<p class="failure" role="status">${stalled}</p>`}
      ${!isCurrent && html`<p class="failure" role="status">${notCurrent}</p>`}
      <time>${timeText(nowMs, nowMs)}</time>
      <a href=${routeTo('now')} aria-label="Leave the wall"><${Icon} name="close" /></a>
    </header>
    <ul class=${classes('wall-tiles', tiles <= 4 && 'few')}>
      ${shownIncidents.map(
        (incident) => html`<${IncidentTile} key=${incident.incidentId} app=${app} incident=${incident}
          events=${events ?? []} nowMs=${nowMs} />`,
      )}
      ${shownGroups.map(
        ({ event, group }) => html`<li key=${event.eventId}
          class=${classes('wall-tile', `urgency-${eventUrgency(event)}`, event.acknowledged !== null && 'quiet')}>
          ${group.name !== null && html`<p class=${classes('wall-group', groupClass(group))}>${group.name}</p>`}
          <p class="wall-name" title=${subjectName(event)}>${subjectName(event)}</p>
          <p class="wall-far">${farOutText(event)}</p>
          <${EventSparkline} source=${app.source} event=${event} width=${320} height=${80} />
          <p class="wall-foot"><span><${Icon} name=${event.kind} /> ${kindName(event.kind)}</span>
            <time>${elapsedText(nowMs - event.startedAtMs)}</time></p>
        </li>`,
      )}
    </ul>
    ${more > 0 && html`<p class="aside">and ${more} more</p>`}
  </main>`;
}

interface IncidentTileProps {
  readonly app: Console;
  readonly incident: IncidentAnswer;
  readonly events: readonly EventAnswer[];
  readonly nowMs: number;
}

function IncidentTile({ app, incident, events, nowMs }: IncidentTileProps): Shown {
  const { seriesCount, summary, kind, startedAtMs, acknowledged } = incident;
  const shown = eventOf(incident, events);
  return html`<li class=${classes('wall-tile', `urgency-${eventUrgency(incident)}`, acknowledged !== null && 'quiet')}>
    <p class="wall-name" title=${summary}>${incidentName(incident)}</p>
    <p class="wall-far">${seriesCount} series</p>
    ${shown !== undefined && html`<${EventSparkline} source=${app.source} event=${shown} width=${320} height=${80} />`}
    <p class="wall-foot"><span><${Icon} name="incidents" /> ${INCIDENT_KIND_WORDS[kind][0]}</span>
      <time>${elapsedText(nowMs - startedAtMs)}</time></p>
  </li>`;
}
