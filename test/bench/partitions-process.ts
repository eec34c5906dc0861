/** A worker of the bench `partitions`. Reports its figures each second, and the first commit after each restore. */
import type { KafkaConfig, Topics } from '../../src/config/config.ts';
import { metricReports } from '../../src/stream/engine/metric-reports.ts';
import { startWorker } from '../../src/stream/engine/stream-worker.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { benchStream, boundBenchDetector, FREE_FORECASTER } from './bench-detector.ts';
import { benchWorker } from './bench-worker.ts';
import { childOptions, report, stopAsked } from './child.ts';

export interface PartitionsOptions {
  readonly kafka: KafkaConfig;
  readonly topics: Topics;
  readonly groupId: string;
}

/** Since the start of the process, but for `rssMb` and `connections`. */
export interface WorkerFigures {
  readonly kind: 'figures';
  readonly rssMb: number;
  /** Open sockets to brokers. */
  readonly connections: number;
  readonly transactions: number;
  readonly records: number;
  readonly cpuS: number;
  /** Tries to take a partition over that failed. */
  readonly retries: number;
}

/** The first commit of a partition after its restore. */
export interface TakenOver {
  readonly kind: 'taken-over';
  readonly partition: number;
  readonly atMs: number;
}

const { kafka, topics, groupId } = childOptions<PartitionsOptions>();
const settings = { detectionSize: 24, alarms: true };
const stopping = stopAsked();
const reports = metricReports(createMetrics({ collectProcess: false }), createLogger('error'));
const counts = { transactions: 0, records: 0, retries: 0 };
const restored = new Set<number>();

const worker = await startWorker({
  ...(await benchWorker({ kafka, topics, groupId, limits: { transactionsPerSMax: 100, shutdownMsMax: 60_000 } })),
  stream: benchStream(topics, groupId, settings),
  detectors: [boundBenchDetector(settings, FREE_FORECASTER)],
  reports: {
    ...reports,
    restored(partition, restore) {
      reports.restored(partition, restore);
      restored.add(partition);
    },
    retrying(partition, error, delayMs) {
      reports.retrying(partition, error, delayMs);
      counts.retries++;
    },
    committed(partition, commit, tally) {
      reports.committed(partition, commit, tally);
      counts.transactions++;
      counts.records += commit.records;
      if (!restored.delete(partition)) return;
      report({ kind: 'taken-over', partition, atMs: Date.now() } satisfies TakenOver);
    },
  },
});

const timer = setInterval(() => {
  const { user, system } = process.cpuUsage();
  report({
    kind: 'figures',
    rssMb: process.memoryUsage.rss() / 1024 ** 2,
    connections: process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length,
    ...counts,
    cpuS: (user + system) / 1e6,
  } satisfies WorkerFigures);
}, 1_000);
const failure = await Promise.race([worker.finished, stopping]);
if (failure) throw failure;
clearInterval(timer);
await worker.stop();
process.disconnect();
