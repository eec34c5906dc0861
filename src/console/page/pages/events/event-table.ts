import type { EventAnswer } from '../../../../api/wire/schema/event-schema.ts';
import { eventUrgency } from '../../../../records/urgency.ts';
import { type EventColumn, type EventOrder, nextOrder, parseOrder, sortedEvents } from '../../../view/event-order.ts';
import {
  addressOf,
  farOutText,
  isMuted,
  kindMeaning,
  kindName,
  lengthText,
  subjectName,
} from '../../../view/event-words.ts';
import { groupsBy, labelledEvent } from '../../../view/label-groups.ts';
import { numberText } from '../../../view/number-words.ts';
import { type Route, routeTo } from '../../../view/route.ts';
import { timeText, zonedText } from '../../../view/time-words.ts';
import { GroupName } from '../../element/grouped.ts';
import { classes, html, type Shown } from '../../element/html.ts';
import { Icon } from '../../element/icons.ts';
import { Meanings } from '../../element/meanings.ts';

interface EventTableProps {
  readonly events: readonly EventAnswer[];
  readonly nowMs: number;
  /** Filters, and the order as `sort`, as the address has them. */
  readonly query: Route['query'];
}

interface Column {
  readonly title: string;
  readonly column: EventColumn | null;
  readonly isFigure: boolean;
}

const COLUMNS: readonly Column[] = [
  { title: 'Began', column: 'began', isFigure: false },
  { title: 'Kind', column: 'kind', isFigure: false },
  { title: 'Series', column: 'series', isFigure: false },
  { title: 'Detector', column: 'detector', isFigure: false },
  { title: 'Out', column: null, isFigure: true },
  { title: 'Grade', column: 'grade', isFigure: true },
  { title: 'Severity', column: 'severity', isFigure: true },
  { title: 'Length', column: 'length', isFigure: true },
  { title: 'State', column: null, isFigure: false },
];

const directionOf = ({ isDescending }: EventOrder) => (isDescending ? 'descending' : 'ascending');

export function EventTable({ events, nowMs, query }: EventTableProps): Shown {
  const order = parseOrder(query.sort ?? '');
  return html`<div class="table-frame" tabindex="0" role="region" aria-label="Events"><table class="table">
    <thead><tr>${COLUMNS.map(
      ({ title, column, isFigure }) => html`<th scope="col" class=${isFigure ? 'figure' : ''}
        aria-sort=${column !== null && order?.column === column ? directionOf(order) : null}>${
          column === null
            ? title
            : html`<a href=${routeTo('events', null, { ...query, sort: nextOrder(order, column) })}>${title}</a>`
        }</th>`,
    )}</tr></thead>
    ${groupsBy(sortedEvents(events, order), query.by ?? '', labelledEvent).map(
      (group) => html`<tbody key=${group.name}>
        ${
          group.name !== null &&
          html`<tr><th scope="rowgroup" colspan=${COLUMNS.length}><${GroupName} group=${group} /></th></tr>`
        }
        ${group.items.map((event) => html`<${EventRow} key=${event.eventId} event=${event} nowMs=${nowMs} />`)}
      </tbody>`,
    )}</table></div>
    <${Meanings} of=${['out', 'grade', 'severity']} />`;
}

function EventRow({ event, nowMs }: { readonly event: EventAnswer; readonly nowMs: number }): Shown {
  const { kind, startedAtMs, grade, severity } = event;
  const subject = subjectName(event);
  return html`<tr class=${classes(`urgency-${eventUrgency(event)}`)}>
    <td><time title=${zonedText(startedAtMs)}>${timeText(startedAtMs, nowMs)}</time></td>
    <td title=${kindMeaning(kind)}><${Icon} name=${kind} /> ${kindName(kind)}</td>
    <th scope="row"><a href=${addressOf(event)} title=${subject}>${subject}</a></th>
    <td>${event.detector}</td>
    <td class="figure">${farOutText(event)}</td>
    <td class="figure">${grade === null ? '–' : grade.toFixed(2)}</td>
    <td class="figure">${numberText(severity)}</td>
    <td class="figure">${lengthText(event, nowMs)}</td>
    <td>${stateText(event, nowMs)}</td>
  </tr>`;
}

function stateText(event: EventAnswer, nowMs: number): string {
  const { endedAtMs, acknowledged, label } = event;
  const parts = [
    endedAtMs === null ? 'open' : 'ended',
    acknowledged === null ? null : `seen by ${acknowledged.by}`,
    isMuted(event, nowMs) ? 'muted' : null,
    label === null ? null : label.real ? 'real' : 'false alarm',
  ];
  return parts.filter((part) => part !== null).join(', ');
}
