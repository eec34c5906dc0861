/** What can be asked for now and fetched later, and how the ids of such jobs begin. */
export const TASKS = { anomaly_detection: 'ad', cross_validation: 'cv', finetune: 'ft', forecast: 'fc' } as const;

export type TaskName = keyof typeof TASKS;
export const TASK_NAMES = Object.keys(TASKS) as TaskName[];

export const JOB_STATUSES = ['pending', 'running', 'succeeded', 'failed', 'cancelled'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** How a job came to its end. */
export type JobEnd =
  | { readonly status: 'succeeded'; readonly result: object }
  | { readonly status: 'failed'; readonly error: string }
  | { readonly status: 'cancelled' };

export interface Job {
  readonly id: string;
  readonly task: TaskName;
  /** Grows with every job. */
  readonly number: number;
  readonly createdMs: number;
  readonly status: JobStatus;
  /** The answer of the same request without a job, once it succeeded. */
  readonly result: object | null;
  /** Why it failed. */
  readonly error: string | null;
}
