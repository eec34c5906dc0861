import type { EventAnswer } from '../../../../api/wire/schema/operations/event-schema.ts';
import type { IncidentAnswer } from '../../../../api/wire/schema/operations/incident-schema.ts';
import { eventUrgency } from '../../../../records/urgency.ts';
import { mutedNow } from '../../../view/words/event-words.ts';
import {
  affectedText,
  INCIDENT_KIND_WORDS,
  incidentAddress,
  incidentName,
  incidentSize,
} from '../../../view/words/incident-words.ts';
import { numberText } from '../../../view/words/value-words.ts';
import { EventSparkline } from '../../chart/event-sparkline.ts';
import type { Props } from '../../element/hooks.ts';
import { classes, html, Icon, type Shown, Since } from '../../element/html.ts';
import { Name } from '../../element/series-name.ts';
import { Acknowledge } from '../events/review-actions.ts';

/** The event that is drawn for an incident: that of its first origin, or the first one. */
function eventOf({ incidentId, origins }: IncidentAnswer, events: readonly EventAnswer[]): EventAnswer | undefined {
  const own = events.filter((event) => event.incidentId === incidentId);
  return own.find(({ series }) => series === origins[0]?.series) ?? own[0];
}

/** An open incident in one line: its likely origin, size, age, and a drawing of that series. */
export function IncidentEntry({
  app,
  incident,
  events,
  names,
  nowMs,
}: Props<'app' | 'events' | 'names' | 'nowMs'> & { readonly incident: IncidentAnswer }): Shown {
  const { incidentId: id, kind, summary, startedAtMs, severity, usualCount, acknowledged } = incident;
  const muted = mutedNow(incident, nowMs);
  const [word, meaning] = INCIDENT_KIND_WORDS[kind];
  const name = incidentName(incident);
  const shown = eventOf(incident, events);
  const urgency = `urgency-${eventUrgency(incident)}`;
  return html`<li class=${classes('line', 'incident', urgency, (muted !== null || acknowledged !== null) && 'quiet')}>
    <a class="line-link" href=${incidentAddress(incident)}>
      <span class="kind" title=${meaning}><${Icon} name="incidents" /><span>${word}</span></span>
      <span class="what" title=${summary}><${Name} id=${name} names=${names} />
        <span class="of">${incidentSize(incident)}${usualCount === null ? '' : `; usually ${usualCount}`}
        </span></span>
    </a>
    ${shown === undefined ? html`<span />` : html`<${EventSparkline} source=${app.source} event=${shown} />`}
    <span class="far"><strong>${affectedText(incident)}</strong><span>severity ${numberText(severity)}</span></span>
    <${Since} atMs=${startedAtMs} nowMs=${nowMs} />
    <span class="act"><${Acknowledge} app=${app} of="incidents" id=${id} acknowledged=${acknowledged}
      muted=${muted} name=${names.of(name)} /></span>
  </li>`;
}
