/** Jobs, each with the prefix of its ids. */
export const JOB_ID_PREFIXES = {
  anomaly_detection: 'ad',
  cross_validation: 'cv',
  explain: 'ex',
  finetune: 'ft',
  forecast: 'fc',
  simulate: 'sm',
  what_if: 'wi',
} as const;

export type JobName = keyof typeof JOB_ID_PREFIXES;
export const JOB_NAMES = Object.keys(JOB_ID_PREFIXES) as JobName[];

/** Tasks of requests with series, which can be submitted as jobs. */
export type TaskName = Exclude<JobName, 'what_if'>;
