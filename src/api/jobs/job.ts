import type { TunedWeights } from '../../models/tuned-weights.ts';
import type { JobProgress } from '../../store/jobs/jobs.ts';
import type { CallEffect } from '../accounts/metering.ts';
import type { TokenCount } from '../accounts/token-count.ts';
import type { NewlyTuned } from '../models/tuned-models.ts';
import type { JobName, TaskName } from '../wire/task-names.ts';

export interface JobRun<Task extends JobName = TaskName> {
  readonly task: Task;
  /** The request body: JSON, compressed with zstd. */
  readonly request: Uint8Array;
  /** The fine-tuned model that the request references. */
  readonly named?: { readonly model: string; readonly weights: TunedWeights } | null;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Receives the progress of fine-tuning (of several, that of the current one) and of a what-if. */
  readonly onProgress?: (progress: JobProgress) => void;
}

export type JobOutcome =
  /** `result` is the answer of the synchronous endpoint: JSON, compressed with zstd. */
  | {
      readonly kind: 'answered';
      readonly result: Uint8Array;
      readonly tokens: TokenCount;
      /** The model that was fine-tuned, to be prepared before the job succeeds. */
      readonly made?: NewlyTuned | null;
      /** Effect that is stored in the transaction that ends the job. */
      readonly effect?: CallEffect;
    }
  /** `error` is shown to the client, `cause` is logged. */
  | { readonly kind: 'failed'; readonly error: string; readonly cause?: string }
  | { readonly kind: 'stopped' };

export interface JobExecutor<Task extends JobName = TaskName> {
  /** Jobs that it runs at once; 1 when undefined. */
  readonly slots?: number;
  /** Never rejects because of a job. */
  run(run: JobRun<Task>): Promise<JobOutcome>;
  close(): Promise<void>;
}

/** The error that clients see for internal failures. Details are logged. */
export const INTERNAL_ERROR = 'Internal error; the log has details under this job id';
