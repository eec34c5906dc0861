import { useState } from 'preact/hooks';
import type { DetectorsAnswer } from '../../../../api/wire/schema/operations/detectors-schema.ts';
import { routeTo } from '../../../view/route.ts';
import { counted, rateText, zonedText } from '../../../view/words/value-words.ts';
import { type Props, useLoaded } from '../../element/hooks.ts';
import { Failure, html, Loading, type Shown, typedIn } from '../../element/html.ts';
import { Meanings } from '../../element/meanings.ts';
import { Table, type TableColumn } from '../../element/table.ts';
import { getJson } from '../../source/service-calls.ts';
import { SaveDetectors } from './save-detectors.ts';
import { DetectorWhatIfView, WhatIf } from './what-if-result.ts';

const EVERY_MS = 30_000;

/** The detectors: what they watch, their target rates, what they raised, and what if they were set otherwise. */
export function DetectorsPage({ app, route }: Props<'app' | 'route'>): Shown {
  const { value, failure, reload } = useLoaded('detectors', () => getJson<DetectorsAnswer>('/v1/detectors'), EVERY_MS);
  if (value === null) {
    return html`<div class="page"><h1>Detectors</h1>
      ${failure === null ? html`<${Loading} what="detectors" />` : html`<${Failure} text=${failure} />`}</div>`;
  }
  const { detectors, findings, version } = value;
  const single = detectors.find(({ group }) => group === null) ?? detectors[0] ?? null;
  const chosen = detectors.find(({ name }) => name === route.subject) ?? single;
  return html`<div class="page">
    <header class="page-head"><h1>Detectors</h1>
      <p class="aside">${version === null ? 'as in the detectors file' : `version ${version}`}</p></header>
    ${failure !== null && html`<${Failure} text=${failure} />`}
    ${findings.length > 0 && html`<${Findings} findings=${findings} />`}
    <${Table} name="Detectors" columns=${detectorColumns(chosen?.name ?? null)} rows=${detectors}
      keyOf=${({ name }: Detector) => name}
      rowClass=${({ name }: Detector) => (name === chosen?.name ? 'chosen' : '')} />
    <${Meanings} of=${['target per week', 'actual per week']} />
    ${
      chosen !== null &&
      html`<div class="columns halves">
        <${DetectorSettings} detector=${chosen} />
        <div>
          ${
            route.query.job !== undefined &&
            html`<${DetectorWhatIfView} key=${route.query.job} app=${app} file=${value} job=${route.query.job}
              onSaved=${reload} />`
          }
          <${WhatIf} key=${chosen.name} app=${app} detector=${chosen} match=${route.query.match ?? ''} />
        </div>
      </div>`
    }
    <${DetectorsEditor} app=${app} file=${value} onSaved=${reload} />
  </div>`;
}

/** Settings that watch nothing, or not what was meant. */
function Findings({ findings }: Pick<DetectorsAnswer, 'findings'>): Shown {
  return html`<section aria-label="Findings"><ul class="findings">
    ${findings.map(({ text }) => html`<li class="failure">${text}</li>`)}</ul></section>`;
}

type Detector = DetectorsAnswer['detectors'][number];

/** True events are no false alarms. */
function isAboveTarget({ alarms_promised_per_week: target, events_per_week: actual, events, events_true }: Detector) {
  const falseShare = events === 0 ? 1 : Math.max(0, 1 - events_true / events);
  return target !== null && actual !== null && actual * falseShare > 2 * target;
}

function detectorColumns(chosen: string | null): readonly TableColumn<Detector>[] {
  return [
    {
      title: 'Detector',
      isHead: true,
      cell: ({ name }) =>
        html`<a href=${routeTo('detectors', name)} aria-current=${name === chosen ? 'true' : null}>${name}</a>`,
    },
    {
      title: 'Watches',
      cell: ({ series }) => html`<code title=${series.join(', ')}>${series.join(', ')}</code>`,
    },
    {
      title: 'Series',
      isFigure: true,
      cell: ({ series_count, group_count }) =>
        group_count > 0 ? `${series_count} in ${group_count}` : String(series_count),
    },
    {
      title: 'Target per week',
      isFigure: true,
      cell: ({ alarms_promised_per_week: target }) => (target === null ? 'off' : rateText(target)),
    },
    {
      title: 'Actual per week',
      isFigure: true,
      isAbove: isAboveTarget,
      cell: ({ events_per_week }) => rateText(events_per_week),
    },
    {
      title: 'Events',
      isFigure: true,
      cell: ({ name, events }) => html`<a href=${routeTo('events', null, { detector: name })}>${events}</a>`,
    },
    { title: 'True', isFigure: true, cell: ({ events_true }) => String(events_true) },
    { title: 'Open', isFigure: true, cell: ({ events_open }) => String(events_open) },
  ];
}

function DetectorSettings({ detector }: { readonly detector: Detector }): Shown {
  const { name, model, group, settings, observations, since } = detector;
  const facts: readonly (readonly [string, string])[] = [
    ['model', model],
    ...(group === null ? [] : [['group', group] as const]),
    ...Object.entries(settings).map(([key, value]) => [key, String(value ?? '–')] as const),
  ];
  return html`<section class="panel"><h2>Settings of ${name}</h2>
    <dl class="facts one">${facts.map(([key, text]) => html`<div><dt>${key}</dt><dd>${text}</dd></div>`)}</dl>
    <p class="aside">${counted(observations, 'observation is', 'observations are')} kept${
      since === null ? '' : ` since ${new Date(since).toISOString().slice(0, 10)}`
    }.</p>
  </section>`;
}

/** As GET and PUT /v1/detectors name the file among the versions. */
const FILE_VERSION = 0;

/** The file itself, for what the form above does not offer, and the versions before. */
function DetectorsEditor({ app, file, onSaved }: Props<'app' | 'file' | 'onSaved'>): Shown {
  const [edited, setEdited] = useState<string | null>(null);
  const rollBack = (version: number, comment: string) =>
    app.mayAdminister &&
    html`<${SaveDetectors} file=${file} next=${{ roll_back_to: version }} comment=${comment} title="Roll back to it …"
      onSaved=${() => {
        setEdited(null);
        onSaved();
      }} />`;
  const text = edited ?? file.text;
  return html`<details class="panel"><summary>The detectors file${file.versions.length > 0 ? ', and its versions' : ''}
    </summary>
    <textarea class="code" rows="18" spellcheck=${false} aria-label="Detectors file" readonly=${!app.mayAdminister}
      value=${text} onInput=${(event: Event) => setEdited(typedIn(event))} />
    ${
      app.mayAdminister &&
      html`<div class="buttons"><${SaveDetectors} file=${file} next=${{ text }} comment="edited in the console"
        onSaved=${() => {
          setEdited(null);
          onSaved();
        }} />
        ${
          edited !== null &&
          html`<button type="button" class="plain"
          onClick=${() => setEdited(null)}>Discard</button>`
        }
      </div>`
    }
    ${
      file.versions.length > 0 &&
      html`<table class="table versions"><thead><tr><th scope="col">Version</th><th scope="col">Saved</th>
        <th scope="col">By</th><th scope="col">Comment</th><th scope="col"><span class="sr">Action</span></th></tr>
          </thead>
      <tbody>${file.versions.map(
        ({ version, saved_at, saved_by, comment }) => html`<tr><th scope="row">${version}</th>
          <td>${zonedText(saved_at)}</td><td>${saved_by}</td><td>${comment ?? ''}</td>
          <td>${version !== file.version && rollBack(version, `back to version ${version}`)}</td></tr>`,
      )}
      <tr><th scope="row">file</th><td>–</td><td>–</td><td>the detectors file of this service</td>
        <td>${rollBack(FILE_VERSION, 'back to the detectors file')}</td></tr></tbody></table>`
    }
  </details>`;
}
