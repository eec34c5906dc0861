import type { DetectorsAnswer } from '../../../../sidecar/wire/schema/operations/detectors-schema.ts';
import { counted, numberText } from '../../../view/number-words.ts';
import { type Route, routeTo } from '../../../view/route.ts';
import { type Console, useLoaded } from '../../element/hooks.ts';
import { classes, html, type Shown } from '../../element/html.ts';
import { Meanings } from '../../element/meanings.ts';
import { Failure, Loading } from '../../element/page-states.ts';
import { getJson } from '../../source/service-calls.ts';
import { DetectorsEditor } from './detectors-editor.ts';
import { ProposedRules } from './proposals.ts';
import { WhatIf } from './what-if.ts';
import { DetectorWhatIfView } from './what-if-result.ts';

const EVERY_MS = 30_000;

/** The detectors: what they watch, what they promise, what they raised, and what if they were set otherwise. */
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
    <${DetectorTable} detectors=${detectors} chosen=${chosen?.name ?? null} />
    ${
      chosen !== null &&
      html`<div class="columns halves">
        <${DetectorSettings} detector=${chosen} />
        <div>
          <${ProposedRules} app=${app} detector=${chosen.name} />
          ${
            route.query.job !== undefined &&
            html`<${DetectorWhatIfView} key=${route.query.job} app=${app} file=${value} job=${route.query.job}
              onSaved=${reload} />`
          }
          <${WhatIf} key=${chosen.name} app=${app} detector=${chosen} file=${value} onSaved=${reload} />
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

interface DetectorTableProps {
  readonly detectors: readonly DetectorsAnswer['detectors'][number][];
  readonly chosen: string | null;
}

function DetectorTable({ detectors, chosen }: DetectorTableProps): Shown {
  return html`<div class="table-frame" tabindex="0" role="region" aria-label="Detectors"><table class="table">
    <thead><tr><th scope="col">Detector</th><th scope="col">Watches</th><th scope="col" class="figure">Series</th>
      <th scope="col" class="figure">Promised a week</th><th scope="col" class="figure">Seen a week</th>
      <th scope="col" class="figure">Events</th><th scope="col" class="figure">Open</th></tr></thead>
    <tbody>${detectors.map((detector) => {
      const { name, series, series_count, group_count, alarms_promised_per_week: promised } = detector;
      const { events_per_week: seen } = detector;
      const above = promised !== null && seen !== null && seen > 2 * promised;
      return html`<tr key=${name} class=${classes(name === chosen && 'chosen')}>
        <th scope="row"><a href=${routeTo('detectors', name)} aria-current=${name === chosen ? 'true' : null}>
          ${name}</a></th>
        <td title=${series.join(', ')}><code>${series.join(', ')}</code></td>
        <td class="figure">${group_count > 0 ? `${series_count} in ${group_count}` : series_count}</td>
        <td class="figure">${promised === null ? 'off' : numberText(promised)}</td>
        <td class=${classes('figure', above && 'above')}
          >${numberText(seen)}</td>
        <td class="figure"><a href=${routeTo('events', null, { detector: name })}>${detector.events}</a></td>
        <td class="figure">${detector.events_open}</td>
      </tr>`;
    })}</tbody></table></div>
    <${Meanings} of=${['promised a week', 'seen a week']} />`;
}

function DetectorSettings({ detector }: { readonly detector: DetectorsAnswer['detectors'][number] }): Shown {
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
