import type { EventAnswer } from '../../../../api/wire/schema/event-schema.ts';
import type { IncidentAnswer } from '../../../../api/wire/schema/incident-schema.ts';
import { eventUrgency } from '../../../../records/urgency.ts';
import {
  INCIDENT_KIND_WORDS,
  incidentAddress,
  incidentName,
  incidentSize,
  isIncidentMuted,
} from '../../../view/incident-words.ts';
import { elapsedText, numberText } from '../../../view/number-words.ts';
import { zonedText } from '../../../view/time-words.ts';
import { EventSparkline } from '../../chart/event-sparkline.ts';
import type { Console } from '../../element/hooks.ts';
import { classes, html, type Shown } from '../../element/html.ts';
import { Icon } from '../../element/icons.ts';

interface IncidentEntryProps {
  readonly app: Console;
  readonly incident: IncidentAnswer;
  /** Open events. */
  readonly events: readonly EventAnswer[];
  readonly nowMs: number;
}

/** The event that stands for an incident: that of its first origin, or the first of them. */
function eventOf({ incidentId, origins }: IncidentAnswer, events: readonly EventAnswer[]): EventAnswer | undefined {
  const own = events.filter((event) => event.incidentId === incidentId);
  return own.find(({ series }) => series === origins[0]?.series) ?? own[0];
}

/** An open incident in one line: where it may have begun, how large it is, since when, and how its origin looks. */
export function IncidentEntry({ app, incident, events, nowMs }: IncidentEntryProps): Shown {
  const { incidentId: id, kind, summary, startedAtMs, seriesCount, severity, acknowledged } = incident;
  const muted = isIncidentMuted(incident, nowMs);
  const [word, meaning] = INCIDENT_KIND_WORDS[kind];
  const name = incidentName(incident);
  const shown = eventOf(incident, events);
  const acknowledge = async () => {
    await app.source.acknowledgeIncident(id, acknowledged === null);
    await app.openEvents.refresh();
  };
  const urgency = `urgency-${eventUrgency(incident)}`;
  return html`<li class=${classes('line', 'incident', urgency, (muted || acknowledged !== null) && 'quiet')}>
    <a class="line-link" href=${incidentAddress(incident)}>
      <span class="kind" title=${meaning}><${Icon} name="incidents" /><span>${word}</span></span>
      <span class="what"><span class="name" title=${summary}>${name}</span>
        <span class="of">${incidentSize(incident)}${kind === 'simultaneous' ? `; usually ${incident.usualCount}` : ''}
        </span></span>
    </a>
    ${shown === undefined ? html`<span />` : html`<${EventSparkline} source=${app.source} event=${shown} />`}
    <span class="far"><strong>${seriesCount} series</strong><span>severity ${numberText(severity)}</span></span>
    <time class="since" title=${`since ${zonedText(startedAtMs)}`}>${elapsedText(nowMs - startedAtMs)}</time>
    <span class="act">${
      muted
        ? html`<span class="mark" title=${incident.muted?.reason ?? ''}><${Icon} name="mute" />muted</span>`
        : app.mayOperate
          ? html`<button type="button" class="small" aria-pressed=${acknowledged !== null} onClick=${acknowledge}
              title=${acknowledged === null ? 'I look after all of it' : `Acknowledged by ${acknowledged.by}`}>
              <${Icon} name="check" /><span class="sr">Acknowledge the incident of ${name}</span></button>`
          : acknowledged !== null && html`<span class="mark"><${Icon} name="check" />${acknowledged.by}</span>`
    }</span>
  </li>`;
}
