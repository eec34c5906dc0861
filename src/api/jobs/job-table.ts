import { type FinetunedServices, loadTunedWeights, type NewModelOwner, prepareTuned } from '../models/tuned-models.ts';
import type { DetectorWhatIfParts } from '../operations/detector-what-if.ts';
import { problemOf } from '../wire/problem.ts';
import type { JobName, TaskName } from '../wire/task-names.ts';
import { compressedJson } from './answer-job.ts';
import { decodeEnvelope } from './envelope.ts';
import type { JobExecutor, JobOutcome, JobRun } from './job.ts';
import { runWhatIf } from './what-if-job.ts';

/** References of a job to fine-tuned models. The sandbox has no access to the store. */
export interface JobModels extends NewModelOwner {
  /** The model that it forecasts with, or derives from. */
  readonly named: string | null;
  /** The id of the model that it creates. */
  readonly output: string | null;
}

/**
 * Where each job runs.
 * @param whatIf null: the service reads no stream, and its what-ifs fail
 */
export function jobTable(
  sandbox: JobExecutor,
  finetuned: FinetunedServices,
  whatIf: DetectorWhatIfParts | null,
): JobExecutor<JobName> {
  const inSandbox = (run: JobRun<JobName>) => runInSandbox(run as JobRun<TaskName>, sandbox, finetuned);
  const runs: Readonly<Record<JobName, (run: JobRun<JobName>) => Promise<JobOutcome>>> = {
    anomaly_detection: inSandbox,
    cross_validation: inSandbox,
    explain: inSandbox,
    finetune: inSandbox,
    forecast: inSandbox,
    simulate: inSandbox,
    what_if: (run) => runWhatIf(run, whatIf),
  };
  return { slots: sandbox.slots ?? 1, run: (run) => runs[run.task](run), close: () => sandbox.close() };
}

/**
 * Runs a task whose request is an envelope with JobModels: loads the fine-tuned model that it references, and prepares
 * the one that it creates.
 */
async function runInSandbox(run: JobRun, sandbox: JobExecutor, services: FinetunedServices): Promise<JobOutcome> {
  const { header, bytes } = decodeEnvelope<JobModels>(run.request);
  try {
    const named = header.named === null ? null : await loadTunedWeights(services, header.owner, header.named);
    const outcome = await sandbox.run({ ...run, request: bytes, named });
    if (outcome.kind !== 'answered' || !outcome.made) return outcome;
    const id = header.output!;
    const effect = await prepareTuned(services, outcome.made, { ...header, id });
    const { kind, tokens } = outcome;
    return { kind, tokens, effect, result: await compressedJson({ ...tokens, finetuned_model_id: id }) };
  } catch (error) {
    const problem = problemOf(error, 'job id');
    const cause = problem.status >= 500 ? { cause: String((error as Error).stack ?? error) } : {};
    return { kind: 'failed', error: problem.message, ...cause };
  }
}
