import { useEffect, useState } from 'preact/hooks';
import type { DetectorsAnswer } from '../../../../api/wire/schema/operations/detectors-schema.ts';
import type { DetectorWhatIf } from '../../../../api/wire/schema/operations/what-if-schema.ts';
import { routeTo } from '../../../view/route.ts';
import { kindName } from '../../../view/words/event-words.ts';
import { counted, rateText, timeText, zonedText } from '../../../view/words/value-words.ts';
import { type Console, type Props, useAct, useLoaded } from '../../element/hooks.ts';
import { Failure, html, Icon, type Shown, typedIn } from '../../element/html.ts';
import { Name, SharedName, useNames } from '../../element/series-name.ts';
import { getJson, postJson } from '../../source/service-calls.ts';
import { SaveDetectors } from './save-detectors.ts';

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
  /** Series or groups that are tried first; empty: all. */
  readonly match: string;
}

/** Other settings of a detector: a job scores what is kept of its series by them. */
export function WhatIf({ app, detector, match: first }: WhatIfProps): Shown {
  const [match, setMatch] = useState(first);
  const [changes, setChanges] = useState<Readonly<Record<string, string>>>({});
  const [span, setSpan] = useState(SPANS[1][1]);
  const { act, failure, busy } = useAct();
  const given = Object.entries(changes).filter(([, text]) => text.trim() !== '');
  const submit = (event: Event) => {
    event.preventDefault();
    const after = Object.fromEntries(given.map(([name, text]) => [name, WHOLE.has(name) ? Number(text) : text.trim()]));
    const from = Math.round(app.source.nowMs() - span);
    const chosen = match.trim() === '' ? {} : { match: match.trim() };
    return act(() => submitWhatIf(detector.name, { ...chosen, from, after }));
  };
  return html`<section class="panel"><h2>Try other settings of ${detector.name}</h2>
    ${
      app.mayOperate
        ? html`<form class="what-if" onSubmit=${submit}>
          <div class="fields">
            <label>${detector.group === null ? 'Series' : 'Groups'}<input value=${match} placeholder="all"
              onInput=${(event: Event) => setMatch(typedIn(event))} /></label>
            <label>Over<select value=${span}
              onChange=${(event: Event) => setSpan(Number(typedIn(event)))}>
              ${SPANS.map(([name, ms]) => html`<option value=${ms}>${name}</option>`)}</select></label>
            ${FIELDS.map(
              ([name, label, example]) => html`<label>${label}<input name=${name} value=${changes[name] ?? ''}
                placeholder=${String(detector.settings[name] ?? example)}
                onInput=${(event: Event) => setChanges({ ...changes, [name]: typedIn(event) })} /></label>`,
            )}
          </div>
          <div class="buttons">
            <button type="submit" class="primary" disabled=${busy || given.length === 0}>Try it</button>
          </div>
        </form>`
        : html`<p class="aside">Trying other settings requires a key with the role operator.</p>`
    }
    ${failure !== null && html`<${Failure} text=${failure} />`}
  </section>`;
}

const EVERY_MS = 1_500;
const SHOWN_MAX = 100;
const WEEK_MS = 7 * 86_400_000;

interface WhatIfJob {
  readonly status: 'pending' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  readonly result: DetectorWhatIf | null;
  readonly error: string | null;
  readonly progress: { readonly step: number; readonly steps: number } | null;
}

type Changes = Readonly<Record<string, string | number>>;

/** Submits a what-if over series of a detector, and goes to the address that shows it. */
async function submitWhatIf(
  detector: string,
  body: { readonly after: Changes; readonly from: number; readonly match?: string },
) {
  const { job_id: job } = await postJson<{ readonly job_id: string }>('/v1/what-if/jobs', { detector, ...body });
  location.hash = routeTo('detectors', detector, { job });
}

/** The words of changed settings: `min_deviation 5%, quiet 02:00-04:00 UTC`. */
const changesText = (changes: Changes) =>
  Object.entries(changes)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

/** A what-if while it runs, and what came of it. Its address shows it again. */
export function DetectorWhatIfView({
  app,
  file,
  job,
  onSaved,
}: Props<'app' | 'file' | 'onSaved'> & { readonly job: string }): Shown {
  const [isOver, setOver] = useState(false);
  const load = () => getJson<WhatIfJob>(`/v1/what-if/jobs/${encodeURIComponent(job)}`);
  const { value, failure } = useLoaded(job, load, isOver ? null : EVERY_MS);
  const status = value?.status ?? 'pending';
  useEffect(() => setOver(!['pending', 'running'].includes(status)), [status]);
  return html`<section class="panel" aria-label="What if">
    <h2>What if</h2>
    ${failure !== null && html`<${Failure} text=${failure} />`}
    ${value !== null && !isOver && html`<${Running} job=${job} progress=${value.progress} mayStop=${app.mayOperate} />`}
    ${status === 'cancelled' && html`<p class="aside">Cancelled.</p>`}
    ${value?.error != null && html`<${Failure} text=${value.error} />`}
    ${value?.result != null && html`<${Compared} app=${app} file=${file} result=${value.result} onSaved=${onSaved} />`}
  </section>`;
}

interface RunningProps {
  readonly job: string;
  readonly progress: WhatIfJob['progress'];
  readonly mayStop: boolean;
}

function Running({ job, progress, mayStop }: RunningProps): Shown {
  const cancel = () => void postJson(`/v2/async/jobs/${encodeURIComponent(job)}/cancel`, {}).catch(() => {});
  const { step, steps } = progress ?? { step: 0, steps: 0 };
  return html`<p role="status">${
    steps === 0 ? 'Waiting for its turn.' : `${step} of ${counted(steps, 'series', 'series')} scored.`
  }</p>
    <progress aria-label="Series that are scored" max=${Math.max(1, steps)} value=${step} />
    <p class="aside">This address shows the result, also when it is opened later.</p>
    ${
      mayStop && html`<div class="buttons"><button type="button" class="plain" onClick=${cancel}>Cancel</button></div>`
    }`;
}

interface ComparedProps extends Omit<Props<'app' | 'file' | 'onSaved'> & { readonly job: string }, 'job'> {
  readonly result: DetectorWhatIf;
}

function Compared({ app, file, result, onSaved }: ComparedProps): Shown {
  const { detector, before, after, labels, series, groups, series_left_out: leftOut, observations } = result;
  const shown = result.events.slice(0, SHOWN_MAX);
  const names = useNames(shown.flatMap(({ series, group }) => series ?? group ?? []));
  const lost = labels.real.before - labels.real.after;
  const isFirstOfNow = Object.keys(before.changes).length === 0;
  const subjects = groups > 0 ? counted(groups, 'group') : counted(series, 'series', 'series');
  const scoredFrom = result.scored_from === null ? '' : `, from ${zonedText(result.scored_from)} on`;
  return html`<p role="status">${subjects} of ${detector}, ${counted(observations, 'value')} scored again${scoredFrom}${
    leftOut === 0 ? '' : `; ${counted(leftOut, 'series was', 'series were')} left out`
  }. The stream raised ${counted(result.stream_events, 'event')} in this time.</p>
    <div class="table-frame" tabindex="0" role="region" aria-label="Both settings"><table class="table">
    <thead><tr><th scope="col">Settings</th><th scope="col" class="figure">Events</th>
      <th scope="col" class="figure">A week</th><th scope="col" class="figure">A week and series</th></tr></thead>
    <tbody>
      <${SettingsRow} title=${isFirstOfNow ? 'current, scored again' : changesText(before.changes)} sum=${before}
        result=${result} />
      <${SettingsRow} title=${changesText(after.changes) || 'current, scored again'} sum=${after} result=${result} />
    </tbody></table></div>
    <p>${counted(result.only_before, 'event')} would be gone, ${result.only_after} new, ${result.both} unchanged.</p>
    <${Verdicts} labels=${labels} />
    ${
      lost > 0 &&
      html`<p class="failure" role="alert">These settings lose ${counted(lost, 'event')} that people confirmed
        as real.</p>`
    }
    <${SharedName} names=${names} />
    <ul class="event-list compared">${shown.map(
      (event) => html`<li title=${event.summary}><span class=${`mark ${event.raised_by}`}>${
        { before: 'gone', after: 'new', both: 'unchanged' }[event.raised_by]
      }</span>
        <span><${Icon} name=${event.kind} /> ${kindName(event.kind)}</span>
        ${
          event.series === null
            ? html`<${Name} id=${event.group ?? ''} names=${names} />`
            : html`<a href=${routeTo('series', event.series)}><${Name} id=${event.series} names=${names} /></a>`
        }
        ${event.real !== null && html`<strong>${event.real ? 'real' : 'not real'}</strong>`}
        <time>${timeText(event.startedAtMs, app.source.nowMs())}</time></li>`,
    )}</ul>
    ${
      app.mayAdminister &&
      html`<div class="buttons"><${SaveDetectors} file=${file} next=${{ text: after.text }} onSaved=${onSaved}
        title=${lost > 0 ? 'Save anyway …' : undefined}
        comment=${`${detector}: ${changesText(after.changes)}`} /></div>`
    }`;
}

interface SettingsRowProps {
  readonly title: string;
  readonly sum: DetectorWhatIf['before'];
  readonly result: DetectorWhatIf;
}

function SettingsRow({ title, sum, result: { from, to } }: SettingsRowProps): Shown {
  const weeks = (to - from) / WEEK_MS;
  return html`<tr><th scope="row">${title}</th><td class="figure">${sum.events}</td>
    <td class="figure">${weeks > 0 ? rateText(sum.events / weeks) : '–'}</td>
    <td class="figure">${rateText(sum.events_per_week)}</td></tr>`;
}

function Verdicts({ labels: { real, not_real: notReal } }: Pick<DetectorWhatIf, 'labels'>): Shown | null {
  if (real.labelled + notReal.labelled === 0) return html`<p class="aside">None of these events has feedback.</p>`;
  const [falseOnes, trueOnes] = [counted(notReal.labelled, 'false alarm'), counted(real.labelled, 'true event')];
  return html`<p>${trueOnes}: ${real.before} raised by the first settings, ${real.after} by the second. ${falseOnes}:
    ${' '}${notReal.before} by the first, ${notReal.after} by the second.</p>`;
}
