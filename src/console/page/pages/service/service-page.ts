import { useState } from 'preact/hooks';
import type { DeadLettersAnswer, ServiceState } from '../../../../api/wire/schema/operations/service-schema.ts';
import type { Jobs } from '../../../../api/wire/schema/tasks/job-list-schema.ts';
import type { FinetunedModels } from '../../../../api/wire/schema/tasks/tuned-model-schema.ts';
import { routeTo } from '../../../view/route.ts';
import { counted, countText, momentText, numberText, zonedText } from '../../../view/words/value-words.ts';
import { type Props, useAct, useLoaded } from '../../element/hooks.ts';
import { Failure, html, Loading, type Shown } from '../../element/html.ts';
import { Table, type TableColumn } from '../../element/table.ts';
import { getJson, postJson } from '../../source/service-calls.ts';

const EVERY_MS = 5_000;
/** Records behind which a partition is worth a look. */
const LAG_NOTED = 1_000;
const JOBS_MAX = 10;
const STATUSES: readonly Jobs['jobs'][number]['status'][] = ['pending', 'running', 'succeeded', 'failed', 'cancelled'];
const JOBS_EVERY_MS = 10_000;

/** State of the service: partitions and their lag, dead letters, jobs and models. */
export function ServicePage({ app }: Props<'app'>): Shown {
  const { value, failure, reload } = useLoaded('service', () => getJson<ServiceState>('/v1/service'), EVERY_MS);
  return html`<div class="page">
    <header class="page-head"><h1>Service</h1><p class="aside"><a href="/docs">HTTP interface</a></p></header>
    ${failure !== null && html`<${Failure} text=${failure} />`}
    ${value === null && failure === null && html`<${Loading} what="the state of the service" />`}
    ${
      value !== null &&
      html`<${Figures} state=${value} />
      <div class="halves">
        <${Workers} workers=${value.workers} />
        <${Kept} history=${value.history} />
      </div>
      <${DeadLetters} app=${app} reasons=${value.dead_letters} onChanged=${reload} />
      <${JobsAndModels} />`
    }
  </div>`;
}

function Figures({ state }: { readonly state: ServiceState }): Shown {
  const { history, jobs, tuned_models, dead_letters, workers } = state;
  const letters = dead_letters.reduce((sum, row) => sum + row.letters, 0);
  const lag = workers?.partitions.reduce((sum, row) => sum + (row.lag ?? 0), 0) ?? null;
  const figures: readonly (readonly [string, string])[] = [
    ['series', countText(history.series)],
    ['scores kept', numberText(history.scores)],
    ['on disk', `${numberText(history.bytes / 2 ** 20)} MiB`],
    ['behind', lag === null ? '–' : countText(lag)],
    ['dead letters', countText(letters)],
    ['jobs', `${jobs.running} of ${jobs.running + jobs.pending}`],
    ['tuned models', countText(tuned_models)],
  ];
  return html`<dl class="figures">${figures.map(([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}
    </dl>`;
}

type WorkerPlace = NonNullable<ServiceState['workers']>['partitions'][number];
type ReadPlace = ServiceState['history']['partitions'][number] | WorkerPlace;

const countOr = (count: number | null) => (count === null ? '–' : countText(count));

const PLACES: readonly TableColumn<ReadPlace>[] = [
  { title: 'Partition', isHead: true, cell: ({ topic, partition }) => `${topic} ${partition}` },
  { title: 'At', isFigure: true, cell: ({ next_offset }) => countOr(next_offset) },
  { title: 'Of', isFigure: true, cell: ({ end_offset }) => countOr(end_offset) },
  {
    title: 'Behind',
    isFigure: true,
    isAbove: ({ lag }) => (lag ?? 0) > LAG_NOTED,
    cell: ({ lag }) => countOr(lag),
  },
];
const WORKER_PLACES: readonly TableColumn<WorkerPlace>[] = [
  ...PLACES,
  { title: 'Worker', cell: ({ owner }) => owner || html`<span class="above">none</span>` },
];
const placeKey = ({ topic, partition }: ReadPlace) => `${topic} ${partition}`;

function Workers({ workers }: { readonly workers: ServiceState['workers'] }): Shown {
  if (workers === null) {
    return html`<section class="panel"><h2>Workers</h2>
      <p class="aside">No answer from Kafka, or KAFKA_BROKERS is not set.</p></section>`;
  }
  return html`<section><h2>${counted(workers.members, 'worker')} of the group ${workers.group}</h2>
    <${Table} name="Partitions of the input" columns=${WORKER_PLACES} rows=${workers.partitions}
      keyOf=${placeKey} /></section>`;
}

function Kept({ history }: { readonly history: ServiceState['history'] }): Shown {
  const { kept, problem, store, oldest, days_max, gb_max, partitions } = history;
  if (!kept) {
    return html`<section class="panel"><h2>History</h2>
      <p class="aside">No history is kept. Set KAFKA_BROKERS to show events and series; <a
      href=${routeTo('backtest')}>a backtest</a> works without it.</p></section>`;
  }
  return html`<section><h2>History in ${store}: ${days_max} days, at most ${gb_max} GB${
    oldest === null ? '' : `, since ${momentText(oldest).slice(0, 10)}`
  }</h2>
    ${problem !== null && html`<${Failure} text=${problem} />`}
    <${Table} name="Partitions that are read" columns=${PLACES} rows=${partitions} keyOf=${placeKey} /></section>`;
}

/** Jobs and fine-tuned models of the owner of the key. */
function JobsAndModels(): Shown {
  const newest = { page_size: JOBS_MAX, status: STATUSES };
  const jobs = useLoaded('jobs', () => getJson<Jobs>('/v2/async/jobs', newest), JOBS_EVERY_MS);
  const tuned = useLoaded('tuned', () => getJson<FinetunedModels>('/v2/finetuned_models'));
  return html`<div class="halves">
    <section class="panel"><h2>Newest jobs of this key</h2>
      ${(jobs.value?.jobs ?? []).length === 0 && html`<p class="aside">None.</p>`}
      <ul class="rows">${(jobs.value?.jobs ?? []).map(
        ({ job_id, status, task_name }) =>
          html`<li><code>${job_id}</code><span>${task_name}</span><span>${status}</span></li>`,
      )}</ul></section>
    <section class="panel"><h2>Fine-tuned models of this key</h2>
      ${(tuned.value?.finetuned_models ?? []).length === 0 && html`<p class="aside">None.</p>`}
      <ul class="rows">${(tuned.value?.finetuned_models ?? []).map(
        ({ id, model, freq }) => html`<li><code>${id}</code><span>${model}</span><span>${freq}</span></li>`,
      )}</ul></section>
  </div>`;
}

const LETTERS_MAX = 50;

/** Records that could not be scored, by reason, with the record itself; sent again once their cause is gone. */
function DeadLetters({
  app,
  reasons,
  onChanged,
}: Props<'app' | 'onChanged'> & { readonly reasons: ServiceState['dead_letters'] }): Shown {
  const [reason, setReason] = useState<string | null>(null);
  if (reasons.length === 0) {
    return html`<section class="panel"><h2>Dead letters</h2><p class="aside">None.</p>
      </section>`;
  }
  return html`<section class="panel"><h2>Dead letters</h2>
    <div class="buttons" role="group" aria-label="Reasons">${reasons.map(
      ({ reason: name, letters }) => html`<button type="button" class="small text" aria-pressed=${name === reason}
        onClick=${() => setReason(name === reason ? null : name)}>${name} ${letters}</button>`,
    )}</div>
    ${reason !== null && html`<${Letters} key=${reason} app=${app} reason=${reason} onChanged=${onChanged} />`}
  </section>`;
}

function Letters({ app, reason, onChanged }: Props<'app' | 'onChanged'> & { readonly reason: string }): Shown {
  const load = () => getJson<DeadLettersAnswer>('/v1/dead-letters', { reason, limit: LETTERS_MAX });
  const { value, failure, reload } = useLoaded(reason, load);
  const { act, failure: refusal } = useAct(() => {
    reload();
    onChanged();
  });
  const redrive = (id: string) => act(() => postJson(`/v1/dead-letters/${encodeURIComponent(id)}/redrive`, {}));
  const letters = value?.dead_letters ?? [];
  return html`<div class="letters">
    ${[failure, refusal].map((text) => text !== null && html`<${Failure} text=${text} />`)}
    <p class="aside">The newest ${counted(letters.length, 'dead letter')}. "Send again" appends the record to its
      input topic.</p>
    <ul>${letters.map(
      ({ id, detail, atMs, series, input, value: record, truncated, redriven }) => html`<li key=${id}>
        <div><strong>${detail}</strong> <span class="aside">${zonedText(atMs)}, ${input.topic} ${input.partition} at
          ${' '}${input.offset}${series === null ? '' : `, series ${series}`}</span>
          <pre>${record ?? '(no value)'}</pre></div>
        ${
          redriven
            ? html`<span class="mark">sent again</span>`
            : app.mayOperate &&
              !truncated &&
              html`<button type="button" class="small text" onClick=${() => redrive(id)}>Send again</button>`
        }</li>`,
    )}</ul></div>`;
}
