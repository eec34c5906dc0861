import type { Metrics } from '../../ops/metrics.ts';
import type { JobObserver } from './job-runner.ts';

export function countJobs(
  { jobs, jobAttempts, jobSeconds }: Pick<Metrics, 'jobs' | 'jobAttempts' | 'jobSeconds'>,
  settled: JobObserver['settled'],
): JobObserver {
  return {
    begun: (task) => jobAttempts.inc({ task }),
    ended(task, { outcome, ms }) {
      jobs.inc({ task, outcome });
      jobSeconds.observe({ task }, ms / 1_000);
    },
    settled,
  };
}
