import type { IncidentAnswer } from '../../../../api/wire/schema/operations/incident-schema.ts';
import { eventUrgency } from '../../../../records/urgency.ts';
import { routeTo } from '../../../view/route.ts';
import { stateText } from '../../../view/words/event-words.ts';
import {
  INCIDENT_KIND_WORDS,
  incidentAddress,
  incidentName,
  namedOrigins,
} from '../../../view/words/incident-words.ts';
import { counted, elapsedText, numberText, timeText, zonedText } from '../../../view/words/value-words.ts';
import { type Props, useLoaded, useNow } from '../../element/hooks.ts';
import { Empty, Failure, html, Loading, type Shown, typedIn } from '../../element/html.ts';
import { Name, SharedName, useNames } from '../../element/series-name.ts';
import { Table, type TableColumn } from '../../element/table.ts';

const PAGE_ROWS = 100;
const ROWS_MAX = 1_000;
const EVERY_MS = 15_000;

/** Incidents, open ones first, then newest first. */
export function IncidentsPage({ app, route: { query } }: Props<'app' | 'route'>): Shown {
  const { open = '', single = 'false', rows = '' } = query;
  const limit = Math.min(ROWS_MAX, Number(rows) || PAGE_ROWS);
  const flags = { ...(open && { open: open === 'true' }), ...(single !== 'all' && { single: single === 'true' }) };
  const load = () => app.source.incidents({ ...flags, limit });
  const { value, failure } = useLoaded(JSON.stringify([flags, limit]), load, EVERY_MS);
  const nowMs = useNow(app.source, 5_000);
  const go = (name: string) => (event: Event) =>
    location.replace(routeTo('incidents', null, { ...query, [name]: typedIn(event) }));
  return html`<div class="page">
    <header class="page-head"><h1>Incidents</h1>
      <p class="aside">${
        value !== null && `${counted(value.incidents.length, 'incident')}, ${value.total_open} open`
      }</p>
      <form class="filters" onSubmit=${(event: Event) => event.preventDefault()}>
        <label class="sr" for="f-open">State</label>
        <select id="f-open" value=${open} onChange=${go('open')}><option value="">open and ended</option>
          <option value="true">open</option><option value="false">ended</option></select>
        <label class="sr" for="f-single">Size</label>
        <select id="f-single" value=${single} onChange=${go('single')}><option value="false">of several events</option>
          <option value="true">of one event</option><option value="all">of every size</option></select>
      </form>
    </header>
    ${failure !== null && html`<${Failure} text=${failure} />`}
    ${value === null && failure === null && html`<${Loading} what="incidents" />`}
    ${
      value?.incidents.length === 0 &&
      html`<${Empty} title="No such incident">
        Incidents group related events. <code>npm start -- incidents</code> creates them.<//>`
    }
    ${
      value !== null &&
      value.incidents.length > 0 &&
      html`<${IncidentTable} incidents=${value.incidents} nowMs=${nowMs} />`
    }
    ${
      value !== null &&
      value.next_cursor !== null &&
      limit < ROWS_MAX &&
      html`<p class="more"><a href=${routeTo('incidents', null, { ...query, rows: String(limit + PAGE_ROWS) })}>More</a>
      </p>`
    }
  </div>`;
}

function IncidentTable({
  incidents,
  nowMs,
}: Props<'nowMs'> & { readonly incidents: readonly IncidentAnswer[] }): Shown {
  const names = useNames(incidents.flatMap(namedOrigins));
  const columns: readonly TableColumn<IncidentAnswer>[] = [
    {
      title: 'Began',
      cell: ({ startedAtMs: at }) => html`<time title=${zonedText(at)}>${timeText(at, nowMs)}</time>`,
    },
    {
      title: 'Likely origin',
      isHead: true,
      cell: (incident) => html`<a href=${incidentAddress(incident)} title=${incident.summary}><${Name}
        id=${incidentName(incident)} names=${names} /></a>`,
    },
    {
      title: 'Type',
      cell: ({ kind }) => html`<span title=${INCIDENT_KIND_WORDS[kind][1]}>${INCIDENT_KIND_WORDS[kind][0]}</span>`,
    },
    { title: 'Events', isFigure: true, cell: ({ eventCount }) => eventCount },
    { title: 'Series', isFigure: true, cell: ({ seriesCount }) => seriesCount },
    { title: 'Severity', isFigure: true, cell: ({ severity }) => numberText(severity) },
    {
      title: 'Length',
      isFigure: true,
      cell: ({ startedAtMs, endedAtMs }) => elapsedText((endedAtMs ?? nowMs) - startedAtMs),
    },
    {
      title: 'State',
      cell: (incident) => {
        const origin = incident.verdicts.find(({ verdict }) => verdict === 'origin');
        return stateText(incident, nowMs, origin === undefined ? null : `root cause: ${origin.subject}`);
      },
    },
  ];
  return html`<${SharedName} names=${names} />
    <${Table} name="Incidents" columns=${columns} rows=${incidents}
      keyOf=${({ incidentId }: IncidentAnswer) => incidentId}
      rowClass=${(incident: IncidentAnswer) => `urgency-${eventUrgency(incident)}`} />`;
}
