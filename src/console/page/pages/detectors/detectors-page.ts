import type { DetectorsAnswer } from '../../../../api/wire/schema/operations/detectors-schema.ts';
import { type Route, routeTo } from '../../../view/route.ts';
import { counted, rateText } from '../../../view/words/number-words.ts';
import { type Console, useLoaded } from '../../element/hooks.ts';
import { html, type Shown } from '../../element/html.ts';
import { Meanings } from '../../element/meanings.ts';
import { Failure, Loading } from '../../element/page-states.ts';
import { Table, type TableColumn } from '../../element/table.ts';
import { getJson } from '../../source/service-calls.ts';
import { DetectorsEditor } from './detectors-editor.ts';
import { WhatIf } from './what-if.ts';
import { DetectorWhatIfView } from './what-if-result.ts';

const EVERY_MS = 30_000;

/** The detectors: what they watch, their target rates, what they raised, and what if they were set otherwise. */
export function DetectorsPage({ app, route }: { readonly app: Console; readonly route: Route }): Shown {
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
