import type { EventAnswer } from '../../../../api/wire/schema/operations/event-schema.ts';
import { eventUrgency } from '../../../../records/urgency.ts';
import { routeTo } from '../../../view/route.ts';
import { addressOf, kindName, lengthText } from '../../../view/words/event-words.ts';
import { timeText } from '../../../view/words/time-words.ts';
import { classes, html, type Shown } from '../../element/html.ts';
import { Icon } from '../../element/icons.ts';

const SHOWN_MAX = 12;

interface SeriesEventsProps {
  readonly series: string;
  readonly events: readonly EventAnswer[];
  readonly chosen: string | null;
  readonly nowMs: number;
}

export function SeriesEvents({ series, events, chosen, nowMs }: SeriesEventsProps): Shown {
  if (events.length === 0) return null;
  return html`<section class="panel"><h2>Its events</h2>
    <ul class="event-list">${events.slice(0, SHOWN_MAX).map(
      (event) => html`<li class=${classes(`urgency-${eventUrgency(event)}`)}>
        <a href=${addressOf(event)}
          aria-current=${event.eventId === chosen ? 'true' : null}>
          <span><${Icon} name=${event.kind} /> ${kindName(event.kind)}</span>
          <time>${timeText(event.startedAtMs, nowMs)}</time>
          <span class="figure">${event.endedAtMs === null ? 'open' : lengthText(event, nowMs)}
          </span>
        </a></li>`,
    )}</ul>
    ${
      events.length > SHOWN_MAX &&
      html`<p class="aside"><a
      href=${routeTo('events', null, { series })}>All ${events.length}</a></p>`
    }
  </section>`;
}
