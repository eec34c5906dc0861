import type { WorkerLimits } from './config.ts';
import { integerFrom, type Kind } from './kinds.ts';

interface WorkerLimit {
  readonly key: keyof WorkerLimits;
  readonly env: string;
  readonly flag: string;
  /** Key under `worker` in the detectors file. */
  readonly fileKey: string;
  readonly kind: Kind<number>;
  /** null: as many as the machine has processors. */
  readonly fallback: number | null;
  readonly help: string;
}

const INFERENCE_THREADS_MAX = 256;

/** The limits of a worker, wherever they are written. Flags win over environment, environment over the detectors file. */
export const workerLimits: readonly WorkerLimit[] = [
  {
    key: 'commitIntervalMs',
    env: 'KAFKA_COMMIT_INTERVAL_MS',
    flag: 'commit-interval-ms',
    fileKey: 'commit_interval_ms',
    kind: integerFrom(10, 60_000),
    fallback: 50,
    help: 'milliseconds from one transaction to the next',
  },
  {
    key: 'commitRecordsMax',
    env: 'KAFKA_COMMIT_RECORDS_MAX',
    flag: 'commit-records-max',
    fileKey: 'commit_records_max',
    kind: integerFrom(1, 100_000),
    fallback: 5_000,
    help: 'input records of one partition in one transaction',
  },
  {
    key: 'queueRecordsMax',
    env: 'QUEUE_RECORDS_MAX',
    flag: 'queue-records-max',
    fileKey: 'queue_records_max',
    kind: integerFrom(1, 10_000_000),
    fallback: 20_000,
    help: 'waiting records at which a partition is paused',
  },
  {
    key: 'seriesMax',
    env: 'SERIES_MAX',
    flag: 'series-max',
    fileKey: 'series_max',
    kind: integerFrom(1, 10_000_000),
    fallback: 100_000,
    help: 'series held of one partition; the longest idle is evicted',
  },
  {
    key: 'inferenceThreads',
    env: 'INFERENCE_THREADS',
    flag: 'inference-threads',
    fileKey: 'inference_threads',
    kind: integerFrom(1, INFERENCE_THREADS_MAX),
    fallback: null,
    help: 'threads that run the model (default: one a processor)',
  },
  {
    key: 'shutdownMsMax',
    env: 'SHUTDOWN_MS_MAX',
    flag: 'shutdown-ms-max',
    fileKey: 'shutdown_ms_max',
    kind: integerFrom(100, 600_000),
    fallback: 10_000,
    help: 'milliseconds an orderly end may take',
  },
];
