import type { TunedWeights } from '../../model/tuned-weights.ts';
import type { JobProgress } from '../../store/jobs.ts';
import type { TokenCount } from '../accounts/token-count.ts';
import type { NewlyTuned } from '../models/tuned-models.ts';
import type { TaskName } from '../wire/task-names.ts';

/** Weights, and the pretrained model below them. */
export interface NamedWeights {
  readonly model: string;
  readonly weights: TunedWeights;
}

/** A job to be run now. */
export interface JobRun {
  readonly task: TaskName;
  /** The body of its request, JSON compressed with zstd. */
  readonly request: Uint8Array;
  /** The fine-tuned model that the request names. */
  readonly named?: NamedWeights | null;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Told how far its fine-tuning has come, where it has one; of several, the one that runs. */
  readonly onProgress?: (progress: JobProgress) => void;
}

/** How a run came to its end. */
export type JobOutcome =
  /** `result` is the answer to the same request without a job, JSON compressed with zstd. */
  | {
      readonly kind: 'answered';
      readonly result: Uint8Array;
      readonly tokens: TokenCount;
      /** What a fine-tuning made, to be kept before the job has succeeded. */
      readonly made?: NewlyTuned | null;
    }
  /** `error` is for whoever submitted it; `cause` is for the log. */
  | { readonly kind: 'failed'; readonly error: string; readonly cause?: string }
  /** By its signal. */
  | { readonly kind: 'stopped' };

/** Where jobs run, one at a time. */
export interface JobExecutor {
  /** Never rejects for what a job does. */
  run(run: JobRun): Promise<JobOutcome>;
  close(): Promise<void>;
}

/** What is told of a failure that is ours; what only the log may know stays there. */
export const INTERNAL_ERROR = 'Internal error; the log tells more under this job id';
