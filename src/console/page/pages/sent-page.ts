import type { SentAnswer } from '../../../api/wire/schema/operations/sent-schema.ts';
import type { ListedNames } from '../../../records/series/listed-names.ts';
import { routeTo } from '../../view/route.ts';
import { zonedText } from '../../view/words/value-words.ts';
import { TypedFilter } from '../element/grouped.ts';
import { type Props, usePages } from '../element/hooks.ts';
import { Empty, Failure, html, Loading, type Shown } from '../element/html.ts';
import { Name, SharedName, useNames } from '../element/series-name.ts';
import { Table, type TableColumn } from '../element/table.ts';
import { outcomeText, type Sent } from './events/sent-list.ts';

const EVERY_MS = 10_000;

const sentKey = ({ at, notificationId, eventId, incidentId, type }: Sent) =>
  [at, notificationId, eventId ?? incidentId, type].join();

/** Messages to receivers of alerts, with their outcomes. */
export function SentPage({ app, route: { query } }: Props<'app' | 'route'>): Shown {
  const { event = '', incident = '', receiver = '' } = query;
  const wanted = { event, incident, receiver };
  const load = (cursor: string) => app.source.sent({ ...wanted, cursor });
  const paging = { rowsOf: ({ sent }: SentAnswer) => sent, keyOf: sentKey, everyMs: EVERY_MS };
  const { value, failure, rows, next, readMore } = usePages(JSON.stringify(wanted), load, paging);
  const names = useNames(rows.map(({ subject }) => subject));
  const onTyped = (text: string) => location.replace(routeTo('sent', null, { ...query, receiver: text }));
  return html`<div class="page">
    <header class="page-head"><h1>Sent</h1>
      <p class="aside">Messages to receivers of alerts${
        event !== '' || incident !== ''
          ? html` about <a href=${event === '' ? routeTo('incidents', incident) : routeTo('events', event)}>
            ${event === '' ? 'one incident' : 'one event'}</a>. <a href=${routeTo('sent')}>All</a>`
          : ''
      }</p>
      <form class="filters" onSubmit=${(submitted: Event) => submitted.preventDefault()}>
        <${TypedFilter} name="receiver" label="Receiver" value=${receiver} onTyped=${onTyped} /></form>
    </header>
    ${failure !== null && html`<${Failure} text=${failure} />`}
    ${value === null && failure === null && html`<${Loading} what="what was sent" />`}
    ${
      value !== null &&
      rows.length === 0 &&
      html`<${Empty} title="Nothing was sent">
        <code>npm start -- alerts</code> sends events to receivers; messages and their outcomes are listed here.<//>`
    }
    ${
      rows.length > 0 &&
      html`<${SharedName} names=${names} />
      <${Table} name="Sent" columns=${sentColumns(names)} rows=${rows} keyOf=${sentKey} />`
    }
    ${next !== null && html`<p class="more"><button type="button" onClick=${readMore}>More</button></p>`}
  </div>`;
}

const sentColumns = (names: ListedNames): readonly TableColumn<Sent>[] => [
  { title: 'When', cell: ({ at }) => html`<time>${zonedText(at)}</time>` },
  { title: 'Receiver', cell: ({ receiver }) => receiver },
  { title: 'What', cell: ({ type }) => type },
  {
    title: 'About',
    isHead: true,
    cell: ({ eventId, incidentId, subject }) => {
      const address = eventId === null ? routeTo('incidents', incidentId) : routeTo('events', eventId);
      return html`<a href=${address}><${Name} id=${subject} names=${names} /></a>`;
    },
  },
  { title: 'Route', cell: ({ route }) => route },
  { title: 'Outcome', cell: outcomeText },
];
