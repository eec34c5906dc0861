/** Tasks that can be submitted as jobs, each with the prefix of its job ids. */
export const JOB_ID_PREFIXES = {
  anomaly_detection: 'ad',
  cross_validation: 'cv',
  explain: 'ex',
  finetune: 'ft',
  forecast: 'fc',
  simulate: 'sm',
} as const;

export type TaskName = keyof typeof JOB_ID_PREFIXES;
export const TASK_NAMES = Object.keys(JOB_ID_PREFIXES) as TaskName[];
