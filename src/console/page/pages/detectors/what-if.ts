import { useState } from 'preact/hooks';
import { eventUrgency } from '../../../../record/urgency.ts';
import type { DetectorsAnswer } from '../../../../sidecar/wire/schema/operations/detectors-schema.ts';
import type { WhatIfAnswer } from '../../../../sidecar/wire/schema/what-if-schema.ts';
import { kindName } from '../../../view/event-words.ts';
import { counted, numberText } from '../../../view/number-words.ts';
import { routeTo } from '../../../view/route.ts';
import { timeText } from '../../../view/time-words.ts';
import { type Console, useAct, useLoaded } from '../../element/hooks.ts';
import { classes, html, type Shown, typedIn } from '../../element/html.ts';
import { Icon } from '../../element/icons.ts';
import { Failure } from '../../element/page-states.ts';
import { postJson } from '../../source/service-calls.ts';
import { SaveDetectors } from './save-detectors.ts';
import { tryOnAll } from './what-if-result.ts';

const SERIES_MAX = 200;
const DAY_MS = 86_400_000;
const SPANS: readonly (readonly [string, number])[] = [
  ['the last week', 7 * DAY_MS],
  ['the last 2 weeks', 14 * DAY_MS],
  ['the last 4 weeks', 28 * DAY_MS],
];
/** Settings that can be tried, with what they look like. */
const FIELDS: readonly (readonly [string, string, string])[] = [
  ['false_alarms', 'False alarms', '1/week'],
  ['direction', 'Direction', 'both'],
  ['min_deviation', 'Minimal deviation', '5%'],
  ['h', 'h', '24'],
  ['step_size', 'step_size', '24'],
  ['detection_size', 'detection_size', '24'],
];
const WHOLE = new Set(['h', 'step_size', 'detection_size']);

interface WhatIfProps {
  readonly app: Console;
  readonly detector: DetectorsAnswer['detectors'][number];
  readonly file: DetectorsAnswer;
  readonly onSaved: () => void;
}

/** Other settings on what is kept of a series, beside those of now; then they may be saved. */
export function WhatIf({ app, detector, file, onSaved }: WhatIfProps): Shown {
  const names = useLoaded(`of ${detector.name}`, () =>
    app.source.seriesList({ detector: detector.name, sort: 'grade', limit: SERIES_MAX }),
  );
  const [series, setSeries] = useState('');
  const [changes, setChanges] = useState<Readonly<Record<string, string>>>({});
  const [span, setSpan] = useState(SPANS[1][1]);
  const [result, setResult] = useState<WhatIfAnswer | null>(null);
  const { act, failure, busy } = useAct();
  const isGrouped = detector.group !== null;
  const tried = series === '' ? (names.value?.series[0]?.series ?? '') : series;
  const given = Object.entries(changes).filter(([, text]) => text.trim() !== '');
  const valuedChanges = () =>
    Object.fromEntries(given.map(([name, text]) => [name, WHOLE.has(name) ? Number(text) : text.trim()] as const));
  const from = () => Math.round(app.source.nowMs() - span);
  const submit = (event: Event) => {
    event.preventDefault();
    return isGrouped
      ? submitAll()
      : act(async () => {
          const body = { series: tried, from: from(), changes: valuedChanges() };
          setResult(await postJson<WhatIfAnswer>('/v1/what-if', body));
        });
  };
  const submitAll = () => act(() => tryOnAll(detector.name, { from: from(), after: valuedChanges() }));
  const change = (name: string) => (event: Event) => {
    setChanges({ ...changes, [name]: typedIn(event) });
    // What was tried is no longer what stands in the form.
    setResult(null);
  };
  const title = html`<h2>What if ${detector.name} was set otherwise?</h2>`;
  return html`<section class="panel">${title}
    ${
      app.mayOperate
        ? html`<form class="what-if" onSubmit=${submit}>
          <div class="fields">
            ${
              !isGrouped &&
              html`<label>Series<input list="what-if-series" value=${tried}
              onChange=${(event: Event) => setSeries(typedIn(event))} /></label>
            <datalist id="what-if-series">${names.value?.series.map(
              ({ series: id }) => html`<option value=${id} />`,
            )}</datalist>`
            }
            <label>Over<select value=${span}
              onChange=${(event: Event) => setSpan(Number(typedIn(event)))}>
              ${SPANS.map(([name, ms]) => html`<option value=${ms}>${name}</option>`)}</select></label>
            ${FIELDS.map(
              ([name, label, example]) => html`<label>${label}<input name=${name} value=${changes[name] ?? ''}
                placeholder=${String(detector.settings[name] ?? example)} onInput=${change(name)} /></label>`,
            )}
          </div>
          <div class="buttons">
            ${
              !isGrouped &&
              html`<button type="submit" class="primary" disabled=${busy || tried === '' || given.length === 0}>
              ${busy ? 'Scoring again …' : 'Try it'}</button>`
            }
            <button type="button" class=${isGrouped ? 'primary' : ''} disabled=${busy || given.length === 0}
              onClick=${submitAll}>On all ${isGrouped ? 'groups' : 'series'}</button>
          </div>
        </form>`
        : html`<p class="aside">Trying other settings needs a key with the role operator.</p>`
    }
    ${failure !== null && html`<${Failure} text=${failure} />`}
    ${result !== null && html`<${SideBySide} result=${result} nowMs=${app.source.nowMs()} />`}
    ${
      result !== null &&
      app.mayAdminister &&
      html`<div class="buttons"><${SaveDetectors} file=${file} next=${{ text: result.text }} onSaved=${onSaved}
        comment=${given.map(([name, value]) => `${detector.name}: ${name} ${value}`).join(', ')} /></div>`
    }
  </section>`;
}

function SideBySide({ result, nowMs }: { readonly result: WhatIfAnswer; readonly nowMs: number }): Shown {
  const { series, before, after, observations } = result;
  return html`<div class="side-by-side" role="status">
    <p>${counted(observations, 'value')} of <a href=${routeTo('series', series)}>${series}</a> scored again:</p>
    <${Labelled} meaning="real" labels=${result.labels.real} />
    <${Labelled} meaning="no real ones" labels=${result.labels.not_real} />
    <div class="halves">
      <${RaisedEvents} title="As it is set now" raised=${before} result=${result} nowMs=${nowMs} />
      <${RaisedEvents} title="As it would be" raised=${after} result=${result} nowMs=${nowMs} />
    </div>
  </div>`;
}

/** How many labelled events the settings raise. */
function Labelled({
  meaning,
  labels,
}: {
  readonly meaning: string;
  readonly labels: WhatIfAnswer['labels']['real'];
}): Shown | null {
  const { labelled, before, after } = labels;
  if (labelled === 0) return null;
  return html`<p>Of ${counted(labelled, 'event')} said to be ${meaning}, ${before} ${before === 1 ? 'is' : 'are'} raised
    now, ${after} would be.</p>`;
}

interface RaisedEventsProps {
  readonly title: string;
  readonly raised: WhatIfAnswer['before'];
  readonly result: WhatIfAnswer;
  readonly nowMs: number;
}

function RaisedEvents({ title, raised, result, nowMs }: RaisedEventsProps): Shown {
  const { events, alarms, events_per_week: weekly } = raised;
  const { from, to } = result;
  const place = (at: number) => `${(((at - from) / Math.max(1, to - from)) * 100).toFixed(2)}%`;
  return html`<div><h3>${title}</h3>
    <p><strong>${counted(events.length, 'event')}</strong>, ${numberText(weekly)} a week, of
      ${counted(alarms, 'alarm')}</p>
    <div class="track" aria-hidden="true">${events.map(
      (event) => html`<span class=${classes('bar', 'open', `urgency-${eventUrgency(event)}`)}
        style=${{ left: place(event.startedAtMs), right: `calc(100% - ${place(event.endedAtMs ?? to)})` }} />`,
    )}</div>
    <ul class="event-list">${events.map(
      (event) => html`<li class=${`urgency-${eventUrgency(event)}`} title=${event.summary}>
        <span><${Icon} name=${event.kind} /> ${kindName(event.kind)}</span><time>${timeText(event.startedAtMs, nowMs)}
          </time>
      </li>`,
    )}</ul></div>`;
}
