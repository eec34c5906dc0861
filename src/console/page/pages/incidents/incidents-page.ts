import type { IncidentAnswer } from '../../../../api/wire/schema/incident-schema.ts';
import { eventUrgency } from '../../../../records/urgency.ts';
import { INCIDENT_KIND_WORDS, incidentAddress, incidentName, isIncidentMuted } from '../../../view/incident-words.ts';
import { counted, numberText, shortDuration } from '../../../view/number-words.ts';
import { type Route, routeTo } from '../../../view/route.ts';
import { timeText, zonedText } from '../../../view/time-words.ts';
import { type Console, useLoaded, useNow } from '../../element/hooks.ts';
import { classes, html, type Shown, typedIn } from '../../element/html.ts';
import { Empty, Failure, Loading } from '../../element/page-states.ts';

const PAGE_ROWS = 100;
const ROWS_MAX = 1_000;
const EVERY_MS = 15_000;

/** Incidents, open ones first, then newest first. */
export function IncidentsPage({ app, route: { query } }: { readonly app: Console; readonly route: Route }): Shown {
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
        Incidents are events that belong together. The command <code>incidents</code> makes them.<//>`
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

interface IncidentTableProps {
  readonly incidents: readonly IncidentAnswer[];
  readonly nowMs: number;
}

const COLUMNS = ['Began', 'Where it may have begun', 'Kind', 'Events', 'Series', 'Severity', 'Length', 'State'];
const FIGURES = ['Events', 'Series', 'Severity', 'Length'];

function IncidentTable({ incidents, nowMs }: IncidentTableProps): Shown {
  return html`<div class="table-frame" tabindex="0" role="region" aria-label="Incidents"><table class="table">
    <thead><tr>${COLUMNS.map(
      (title) => html`<th scope="col" class=${FIGURES.includes(title) ? 'figure' : ''}>${title}</th>`,
    )}</tr></thead>
    <tbody>${incidents.map((incident) => {
      const { incidentId: id, kind, summary, startedAtMs, endedAtMs, eventCount, seriesCount, severity } = incident;
      const [word, meaning] = INCIDENT_KIND_WORDS[kind];
      return html`<tr key=${id} class=${classes(`urgency-${eventUrgency(incident)}`)}>
        <td><time title=${zonedText(startedAtMs)}>${timeText(startedAtMs, nowMs)}</time></td>
        <th scope="row"><a href=${incidentAddress(incident)} title=${summary}>${incidentName(incident)}</a></th>
        <td title=${meaning}>${word}</td>
        <td class="figure">${eventCount}</td><td class="figure">${seriesCount}</td>
        <td class="figure">${numberText(severity)}</td>
        <td class="figure">${shortDuration((endedAtMs ?? nowMs) - startedAtMs)}</td>
        <td>${stateText(incident, nowMs)}</td>
      </tr>`;
    })}</tbody></table></div>`;
}

function stateText(incident: IncidentAnswer, nowMs: number): string {
  const { endedAtMs, acknowledged, verdicts } = incident;
  const origin = verdicts.find(({ verdict }) => verdict === 'origin');
  const parts = [
    endedAtMs === null ? 'open' : 'ended',
    acknowledged === null ? null : `seen by ${acknowledged.by}`,
    isIncidentMuted(incident, nowMs) ? 'muted' : null,
    origin === undefined ? null : `it was ${origin.subject}`,
  ];
  return parts.filter((part) => part !== null).join(', ');
}
