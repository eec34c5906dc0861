import type { EventAnswer } from '../../../../api/wire/schema/operations/event-schema.ts';
import { eventUrgency } from '../../../../records/urgency.ts';
import { type EventColumn, nextOrder, parseOrder, sortedEvents } from '../../../view/event-order.ts';
import { groupsBy, labelledEvent } from '../../../view/label-groups.ts';
import { routeTo } from '../../../view/route.ts';
import {
  addressOf,
  farOutText,
  kindMeaning,
  kindName,
  lengthText,
  stateText,
  subjectName,
} from '../../../view/words/event-words.ts';
import { numberText, timeText, zonedText } from '../../../view/words/value-words.ts';
import type { Props } from '../../element/hooks.ts';
import { html, Icon, type Shown } from '../../element/html.ts';
import { Meanings } from '../../element/meanings.ts';
import { CopyId, Name, SharedName, useNames } from '../../element/series-name.ts';
import { Table, type TableColumn } from '../../element/table.ts';

export function EventTable({ events, nowMs, query }: Props<'events' | 'nowMs' | 'query'>): Shown {
  const order = parseOrder(query.sort ?? '');
  const names = useNames(events.map(subjectName));
  const sort = (column: EventColumn) => ({
    href: routeTo('events', null, { ...query, sort: nextOrder(order, column) }),
    direction: order?.column !== column ? null : order.isDescending ? ('descending' as const) : ('ascending' as const),
  });
  const columns: readonly TableColumn<EventAnswer>[] = [
    {
      title: 'Began',
      sort: sort('began'),
      cell: ({ startedAtMs: at }) => html`<time title=${zonedText(at)}>${timeText(at, nowMs)}</time>`,
    },
    {
      title: 'Kind',
      sort: sort('kind'),
      cell: ({ kind }) => html`<span title=${kindMeaning(kind)}><${Icon} name=${kind} /> ${kindName(kind)}</span>`,
    },
    {
      title: 'Series',
      sort: sort('series'),
      isHead: true,
      cell: (event) => {
        const subject = subjectName(event);
        return html`<a href=${addressOf(event)}><${Name} id=${subject} names=${names} /></a><${CopyId} id=${subject}
          names=${names} />`;
      },
    },
    { title: 'Detector', sort: sort('detector'), cell: ({ detector }) => detector },
    { title: 'Out', isFigure: true, cell: farOutText },
    {
      title: 'Grade',
      sort: sort('grade'),
      isFigure: true,
      cell: ({ grade }) => (grade === null ? '–' : grade.toFixed(2)),
    },
    { title: 'Severity', sort: sort('severity'), isFigure: true, cell: ({ severity }) => numberText(severity) },
    { title: 'Length', sort: sort('length'), isFigure: true, cell: (event) => lengthText(event, nowMs) },
    {
      title: 'State',
      cell: (event) => stateText(event, nowMs, event.label && (event.label.real ? 'real' : 'false alarm')),
    },
  ];
  return html`<${SharedName} names=${names} />
    <${Table} name="Events" columns=${columns} keyOf=${({ eventId }: EventAnswer) => eventId}
      groups=${groupsBy(sortedEvents(events, order), query.by ?? '', labelledEvent)}
      rowClass=${(event: EventAnswer) => `urgency-${eventUrgency(event)}`} />
    <${Meanings} of=${['out', 'grade', 'severity']} />`;
}
