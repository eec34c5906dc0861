import type { ShownChange } from '../../../../api/wire/schema/operations/change-schema.ts';
import type { IncidentDetailAnswer } from '../../../../api/wire/schema/operations/incident-schema.ts';
import { isOriginKnown } from '../../../../records/incident.ts';
import { visibleId } from '../../../../records/series/listed-names.ts';
import { eventUrgency } from '../../../../records/urgency.ts';
import { routeTo } from '../../../view/route.ts';
import { mutedNow } from '../../../view/words/event-words.ts';
import {
  INCIDENT_KIND_WORDS,
  incidentAddress,
  incidentName,
  incidentSize,
  namedOrigins,
  originName,
} from '../../../view/words/incident-words.ts';
import { counted, elapsedText, timeText, withShownClock, zonedText } from '../../../view/words/value-words.ts';
import { type Props, useLoaded, useNow } from '../../element/hooks.ts';
import { classes, Failure, html, Icon, Loading, type Shown } from '../../element/html.ts';
import { CopyId, Name, SharedName, useNames } from '../../element/series-name.ts';
import { review } from '../../source/service-calls.ts';
import { ChangeList } from '../events/change-list.ts';
import { Guidance } from '../events/guidance.ts';
import { ReviewActions } from '../events/review-actions.ts';
import { SentOf } from '../events/sent-list.ts';
import { IncidentTimeline } from './incident-timeline.ts';

const EVERY_MS = 15_000;
const EVENTS_MAX = 200;
const NONE: readonly ShownChange[] = [];

/** One incident: its likely origins, its events by their onsets, and similar incidents. */
export function IncidentPage({ app, route }: Props<'app' | 'route'>): Shown {
  const id = route.subject ?? '';
  const { value, failure, reload } = useLoaded(id, () => app.source.incident(id), EVERY_MS);
  const load = () => app.source.events({ incident: id, limit: EVENTS_MAX });
  const events = useLoaded(`events of ${id}`, load, EVERY_MS);
  const loadChanges = () => app.source.changes({ incident: id });
  const changes = useLoaded(`changes of ${id}`, loadChanges, EVERY_MS).value ?? NONE;
  const nowMs = useNow(app.source, 5_000);
  const changed = () => {
    reload();
    events.reload();
  };
  return html`<div class="page incident-page">
    <header class="page-head"><h1>${value === null ? 'Incident' : visibleId(incidentName(value))}</h1>
      <p class="aside"><a href=${routeTo('incidents')}>All incidents</a>${
        value !== null && html`, <a href=${routeTo('events', null, { incident: value.incidentId })}>its events</a>`
      }</p></header>
    ${failure !== null && html`<${Failure} text=${failure} />`}
    ${value === null && failure === null && html`<${Loading} what="the incident" />`}
    ${
      value !== null &&
      html`<div class="columns">
        <section class="wide" aria-label="What happened"><${Facts} app=${app} incident=${value} nowMs=${nowMs}
          onChanged=${changed} /></section>
        <aside class="narrow">
          <${ChangeList} changes=${changes} beganMs=${value.startedAtMs} nowMs=${nowMs} />
          <${SentOf} app=${app} event=${null} incident=${value.incidentId} />
          <${Similar} incident=${value} nowMs=${nowMs} /></aside>
      </div>
      <${IncidentOrigins} app=${app} incident=${value} onChanged=${changed} />
      <${IncidentTimeline} app=${app} incident=${value} events=${events.value?.events ?? []}
        changes=${changes} nowMs=${nowMs}
        onChanged=${changed} />`
    }
  </div>`;
}

function Facts({ app, incident, nowMs, onChanged }: Props<'app' | 'incident' | 'nowMs' | 'onChanged'>): Shown {
  const { kind, summary, startedAtMs, endedAtMs, seriesCount, usualCount } = incident;
  const [word, meaning] = INCIDENT_KIND_WORDS[kind];
  const usual = usualCount === null ? '' : ` ${seriesCount} series at once, usually ${usualCount}.`;
  const facts: readonly (readonly [string, string])[] = [
    ['Began', zonedText(startedAtMs)],
    ['Ended', endedAtMs === null ? `still open, for ${elapsedText(nowMs - startedAtMs)}` : zonedText(endedAtMs)],
    ['Size', incidentSize(incident)],
    ['Length', elapsedText((endedAtMs ?? nowMs) - startedAtMs)],
  ];
  return html`<article class=${classes('panel', 'event-detail', `urgency-${eventUrgency(incident)}`)}>
    <header><h2>Incident: <em title=${meaning}>${word}</em></h2></header>
    <p>${withShownClock(summary)}.</p>
    <${Guidance} of=${incident.events.map(({ labels }) => labels)} />
    <p class="aside">${`${meaning[0].toUpperCase()}${meaning.slice(1)}.${usual}`}</p>
    <dl class="facts">${facts.map(([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>
    <${ReviewActions} app=${app} of="incidents" id=${incident.incidentId} acknowledged=${incident.acknowledged}
      muted=${mutedNow(incident, nowMs)} onChanged=${onChanged} />
  </article>`;
}

function Similar({ incident: { similar, seriesCount }, nowMs }: Props<'incident' | 'nowMs'>): Shown {
  const names = useNames(similar.flatMap(({ incident }) => namedOrigins(incident)));
  return html`<section class="panel"><h2>Similar incidents</h2>
    <${SharedName} names=${names} />
    ${similar.length === 0 && html`<p class="aside">No earlier incident affected any of these series.</p>`}
    <ul class="event-list similar">${similar.map(({ incident, commonSeries }) => {
      const verdict = incident.verdicts.find((each) => each.verdict === 'origin');
      const common = `${commonSeries} of ${counted(seriesCount, 'series', 'series')} in common`;
      const length = incident.endedAtMs === null ? 'open' : elapsedText(incident.endedAtMs - incident.startedAtMs);
      return html`<li key=${incident.incidentId} class=${classes(`urgency-${eventUrgency(incident)}`)}>
        <a href=${incidentAddress(incident)}><span
          title=${incident.summary}><${Name} id=${incidentName(incident)} names=${names} /></span>
          <time>${timeText(incident.startedAtMs, nowMs)}</time><span class="figure">${length}</span></a>
        <p class="aside">${common}${
          verdict === undefined ? '' : `; root cause ${verdict.subject}, confirmed by ${verdict.by}`
        }</p>
      </li>`;
    })}</ul></section>`;
}

/** Candidates with their evidence. Their scores are not shown: see the README of src/incidents. */
function IncidentOrigins({ app, incident, onChanged }: Props<'app' | 'incident' | 'onChanged'>): Shown {
  const { incidentId, origins, openedOrigins, verdicts, confirmed } = incident;
  // Of candidates without evidence only the first is listed.
  const shown = origins.filter(({ score }, rank) => rank === 0 || score > 0);
  const names = useNames(shown.map(originName));
  const listed = (each: IncidentDetailAnswer['origins']) =>
    each.map((origin) => names.of(originName(origin))).join('; ');
  const earlier = listed(openedOrigins) === listed(shown) ? null : listed(openedOrigins);
  if (shown.length === 0) return null;
  return html`<section class="panel" aria-label="Likely origins"><h2>Likely origins</h2>
    <${SharedName} names=${names} />
    ${!isOriginKnown(origins) && html`<p class="aside">Origin unknown: no candidate is clearly ahead.</p>`}
    <ol class="origins">${shown.map((origin) => {
      const name = originName(origin);
      const given = verdicts.find(({ verdict, subject }) => verdict === 'origin' && subject === name);
      const before = confirmed.find(({ subject }) => subject === name)?.incidents ?? 0;
      const judge = async () => {
        const body = { verdict: 'origin', subject: name, given: given === undefined };
        await review('incidents', incidentId, 'verdict', body);
        onChanged();
      };
      return html`<li key=${name}>
        <p class="origin"><span><a href=${routeTo('series', origin.series)}><${Name} id=${name} names=${names} /></a>
          <${CopyId} id=${name} names=${names} /></span>
          ${
            app.mayOperate
              ? html`<button type="button" class="small text" aria-pressed=${given !== undefined} onClick=${judge}>
                <${Icon} name="check" />Confirm root cause<span class="sr">: ${names.of(name)}</span></button>`
              : given !== undefined && html`<span class="mark">root cause, confirmed by ${given.by}</span>`
          }</p>
        <p class="aside">${origin.evidence.length === 0 ? 'No evidence.' : `${origin.evidence.join('; ')}.`}${
          before > 0 && ` Confirmed root cause of ${counted(before, 'incident')}.`
        }</p>
      </li>`;
    })}</ol>
    <p class="aside">${earlier !== null && `When it was opened: ${earlier}. `}The ranking suggests where to look first;
      it does not prove a cause.</p>
  </section>`;
}
