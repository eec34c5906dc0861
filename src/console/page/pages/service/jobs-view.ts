import type { Jobs } from '../../../../sidecar/wire/schema/job-list-schema.ts';
import type { FinetunedModels } from '../../../../sidecar/wire/schema/tuned-model-schema.ts';
import { useLoaded } from '../../element/hooks.ts';
import { html, type Shown } from '../../element/html.ts';
import { getJson } from '../../source/service-calls.ts';

const JOBS_MAX = 10;
const EVERY_MS = 10_000;

/** Jobs and fine-tuned models of the owner of the key. */
export function JobsView(): Shown {
  const jobs = useLoaded('jobs', () => getJson<Jobs>('/v2/async/jobs', { page_size: JOBS_MAX }), EVERY_MS);
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
