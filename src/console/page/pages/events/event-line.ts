import { eventUrgency } from '../../../../records/urgency.ts';
import {
  addressOf,
  farOutText,
  isOfGroup,
  kindMeaning,
  kindName,
  mutedNow,
  subjectName,
  widthsOut,
} from '../../../view/words/event-words.ts';
import { numberText } from '../../../view/words/value-words.ts';
import { EventSparkline } from '../../chart/event-sparkline.ts';
import type { Props } from '../../element/hooks.ts';
import { classes, html, Icon, type Shown, Since } from '../../element/html.ts';
import { CopyId, Name } from '../../element/series-name.ts';
import { Acknowledge } from './review-actions.ts';

/** An open event in one line: what, where, since when, how far out, and how it looks. */
export function EventLine({ app, event, names, nowMs }: Props<'app' | 'event' | 'names' | 'nowMs'>): Shown {
  const { eventId: id, kind, startedAtMs, detector, severity, acknowledged } = event;
  const subject = subjectName(event);
  const name = names.of(subject);
  const muted = mutedNow(event, nowMs);
  const widths = widthsOut(event);
  const quiet = muted !== null || acknowledged !== null;
  return html`<li class=${classes('line', `urgency-${eventUrgency(event)}`, quiet && 'quiet')}>
    <a class="line-link" href=${addressOf(event)}>
      <span class="kind" title=${kindMeaning(kind)}><${Icon} name=${kind} /><span>${kindName(kind)}</span></span>
      <span class="what"><${Name} id=${subject} names=${names} />
        <span class="of"><span class="narrow-only" aria-hidden="true">${kindName(kind)}, </span>${
          isOfGroup(event) ? `group of ${event.members.length}, ` : ''
        }${event.seriesCount === null ? detector : `all ${event.seriesCount} series`}</span></span>
    </a>
    <${EventSparkline} source=${app.source} event=${event} />
    <span class="far"><strong>${farOutText(event)}</strong>
      <span>
      ${
        widths !== null && widths > 0
          ? `${numberText(Math.round(widths * 10) / 10)}x outside the interval`
          : `severity ${numberText(severity)}`
      }</span></span>
    <${Since} atMs=${startedAtMs} nowMs=${nowMs} />
    <span class="act"><${CopyId} id=${subject} names=${names} /><${Acknowledge} app=${app} of="events" id=${id}
      acknowledged=${acknowledged} muted=${muted} name=${name} /></span>
  </li>`;
}
