import { eventUrgency } from '../../../../records/urgency.ts';
import { routeTo } from '../../../view/route.ts';
import { addressOf, kindName, lengthText } from '../../../view/words/event-words.ts';
import { timeText } from '../../../view/words/value-words.ts';
import type { Props } from '../../element/hooks.ts';
import { classes, html, Icon, type Shown } from '../../element/html.ts';

const SHOWN_MAX = 12;

export function SeriesEvents({
  series,
  events,
  chosen,
  nowMs,
}: Props<'series' | 'events' | 'chosen' | 'nowMs'>): Shown {
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
