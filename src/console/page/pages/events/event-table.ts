import { eventUrgency } from '../../../../record/urgency.ts';
import { addressOf, farOutText, isMuted, kindMeaning, kindName } from '../../../view/event-words.ts';
import { momentText, numberText, shortDuration, timeText } from '../../../view/number-words.ts';
import type { SeenEvent } from '../../../view/seen.ts';
import { classes, html, type Shown } from '../../element/html.ts';
import { Icon } from '../../element/icons.ts';

interface EventTableProps {
  readonly events: readonly SeenEvent[];
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
      const { id, kind, startedAt, endedAt, grade, severity } = event;
      return html`<tr key=${id} class=${classes(`urgency-${eventUrgency(event)}`)}>
        <td><time title=${momentText(startedAt)}>${timeText(startedAt, nowMs)}</time></td>
        <td title=${kindMeaning(kind)}><${Icon} name=${kind} /> ${kindName(kind)}</td>
        <th scope="row"><a href=${addressOf(event)} title=${event.series}>${event.series}</a></th>
        <td>${event.detector}</td>
        <td class="figure">${farOutText(event)}</td>
        <td class="figure">${grade === null ? '–' : grade.toFixed(2)}</td>
        <td class="figure">${numberText(severity)}</td>
        <td class="figure">${shortDuration((endedAt ?? nowMs) - startedAt)}</td>
        <td>${stateText(event, nowMs)}</td>
      </tr>`;
    })}</tbody></table></div>`;
}

function stateText(event: SeenEvent, nowMs: number): string {
  const { endedAt, acknowledgedBy, real } = event;
  const parts = [
    endedAt === null ? 'open' : 'ended',
    acknowledgedBy === null ? null : `seen by ${acknowledgedBy}`,
    isMuted(event, nowMs) ? 'muted' : null,
    real === null ? null : real ? 'real' : 'false alarm',
  ];
  return parts.filter((part) => part !== null).join(', ');
}
