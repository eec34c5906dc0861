import { eventUrgency } from '../../../../record/urgency.ts';
import type { EventAnswer } from '../../../../sidecar/wire/schema/event-schema.ts';
import { addressOf, farOutText, isMuted, kindMeaning, kindName, subjectName } from '../../../view/event-words.ts';
import { momentText, numberText, shortDuration, timeText } from '../../../view/number-words.ts';
import { classes, html, type Shown } from '../../element/html.ts';
import { Icon } from '../../element/icons.ts';

interface EventTableProps {
  readonly events: readonly EventAnswer[];
  readonly nowMs: number;
}

export function EventTable({ events, nowMs }: EventTableProps): Shown {
  return html`<div class="table-frame" tabindex="0" role="region" aria-label="Events"><table class="table">
    <thead><tr><th scope="col">Began</th><th scope="col">Kind</th><th scope="col">Series</th><th
      scope="col">Detector</th>
      <th scope="col" class="figure">Out</th><th scope="col" class="figure">Grade</th><th scope="col"
        class="figure">Severity</th>
      <th scope="col" class="figure">Length</th><th scope="col">State</th></tr></thead>
    <tbody>${events.map((event) => {
      const { event_id: id, kind, started_at, ended_at, grade, severity } = event;
      const subject = subjectName(event);
      return html`<tr key=${id} class=${classes(`urgency-${eventUrgency(event)}`)}>
        <td><time title=${momentText(started_at)}>${timeText(started_at, nowMs)}</time></td>
        <td title=${kindMeaning(kind)}><${Icon} name=${kind} /> ${kindName(kind)}</td>
        <th scope="row"><a href=${addressOf(event)} title=${subject}>${subject}</a></th>
        <td>${event.detector}</td>
        <td class="figure">${farOutText(event)}</td>
        <td class="figure">${grade === null ? '–' : grade.toFixed(2)}</td>
        <td class="figure">${numberText(severity)}</td>
        <td class="figure">${shortDuration((ended_at ?? nowMs) - started_at)}</td>
        <td>${stateText(event, nowMs)}</td>
      </tr>`;
    })}</tbody></table></div>`;
}

function stateText(event: EventAnswer, nowMs: number): string {
  const { ended_at, acknowledged, label } = event;
  const parts = [
    ended_at === null ? 'open' : 'ended',
    acknowledged === null ? null : `seen by ${acknowledged.by}`,
    isMuted(event, nowMs) ? 'muted' : null,
    label === null ? null : label.real ? 'real' : 'false alarm',
  ];
  return parts.filter((part) => part !== null).join(', ');
}
