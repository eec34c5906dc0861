/** Five weeks of daily values; the last value is an outlier. */
const WEEKS = [
  [20, 22, 23, 22, 25, 31, 28],
  [21, 22, 24, 23, 25, 32, 28],
  [20, 23, 23, 22, 26, 31, 29],
  [21, 21, 24, 22, 25, 32, 28],
  [20, 22, 23, 23, 25, 31, 60],
];

/** Days with a promotion, aligned with the values. */
const PROMOTED = WEEKS.map((_, week) => [0, 0, 0, 0, week % 2, 1, 0]);

const series = { y: WEEKS.flat(), sizes: [35] };
const common = { series, freq: 'D', model: 'tsmodel-1' };

/** A valid request per task. */
const EXAMPLES: Readonly<Record<string, object>> = {
  '/v2/online_anomaly_detection': { ...common, h: 1, detection_size: 2, level: 99 },
  '/v2/anomaly_detection': { ...common, level: 99 },
  '/v2/historic_forecast': { ...common, level: [80] },
  '/v2/forecast': { ...common, h: 7, level: [80, 95] },
  '/v2/cross_validation': { ...common, h: 7, n_windows: 2, level: [80] },
  '/v2/explain': { series: { ...series, X: [PROMOTED.flat()] }, method: 'granger' },
  '/v2/simulate': { ...common, h: 7, n_paths: 100, seed: 7 },
  '/v2/finetune': { ...common, finetune_steps: 2 },
  '/v1/keys': { name: 'shop', role: 'operator', calls_per_minute: 600, credits: 5_000_000 },
  '/model_params': { model: 'tsmodel-1', freq: 'D' },
};

/** Tasks whose jobs take the body of another endpoint. */
const SYNCHRONOUS_TASKS: Readonly<Record<string, string>> = { '/v2/anomaly_detection': '/v2/online_anomaly_detection' };

/** An example body for a route or a job route; null if there is none. */
export function exampleOf(url: string): object | null {
  const task = /^(.*)\/async$/.exec(url)?.[1];
  if (task === undefined) return EXAMPLES[url] ?? null;
  const example = EXAMPLES[SYNCHRONOUS_TASKS[task] ?? task];
  return example === undefined ? null : { ...example, job_options: { timeout_seconds: 60 } };
}
