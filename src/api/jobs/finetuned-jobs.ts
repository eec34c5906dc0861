import { type NewModelOwner, prepareTuned } from '../models/prepared-model.ts';
import { type FinetunedServices, loadTunedWeights } from '../models/tuned-models.ts';
import { problemOf } from '../wire/problem.ts';
import { compressedJson } from './answer-job.ts';
import { decodeEnvelope } from './envelope.ts';
import type { JobExecutor, JobOutcome, JobRun } from './job.ts';

/** References of a job to fine-tuned models. The sandbox has no access to the store. */
export interface JobModels extends NewModelOwner {
  /** The model it forecasts with, or derives from. */
  readonly named: string | null;
  /** The id of the model it creates. */
  readonly output: string | null;
}

/**
 * Loads the fine-tuned models that jobs reference, and prepares the models that jobs create. The request of such a job
 * is an envelope with JobModels.
 */
export class FinetunedJobs implements JobExecutor {
  readonly #inner: JobExecutor;
  readonly #services: FinetunedServices;

  constructor(inner: JobExecutor, services: FinetunedServices) {
    this.#inner = inner;
    this.#services = services;
  }

  get slots(): number {
    return this.#inner.slots ?? 1;
  }

  async run(run: JobRun): Promise<JobOutcome> {
    const { header, bytes } = decodeEnvelope<JobModels>(run.request);
    try {
      const named = header.named === null ? null : await loadTunedWeights(this.#services, header.owner, header.named);
      const outcome = await this.#inner.run({ ...run, request: bytes, named });
      if (outcome.kind !== 'answered' || !outcome.made) return outcome;
      const id = header.output!;
      const effect = await prepareTuned(this.#services, outcome.made, { ...header, id });
      const { kind, tokens } = outcome;
      return { kind, tokens, effect, result: await compressedJson({ ...tokens, finetuned_model_id: id }) };
    } catch (error) {
      const problem = problemOf(error, 'job id');
      const cause = problem.status >= 500 ? { cause: String((error as Error).stack ?? error) } : {};
      return { kind: 'failed', error: problem.message, ...cause };
    }
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
