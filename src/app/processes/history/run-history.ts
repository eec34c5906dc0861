import { Worker } from 'node:worker_threads';
import type { KafkaConfig } from '../../../config/config.ts';
import type { LoadedConfig } from '../../../config/load.ts';
import type { HistoryProblem } from '../../../history/port/history-port.ts';
import { type HistoryMessage, type HistoryQuestion, RemoteHistory } from '../../../history/remote-history.ts';
import type { Logger } from '../../../ops/logger.ts';
import type { Metrics } from '../../../ops/metrics.ts';
import type { HistoryThreadData } from './history-thread.ts';

const RESTART_MS = 5_000;
/** Records live for one batch: more room would fill with garbage before it is collected. */
const YOUNG_MB_MAX = 16;

export interface RunningHistory {
  readonly remote: RemoteHistory;
  kafka(): KafkaConfig | null;
  /** Follows the topics of a cluster from now on. */
  begin(kafka: KafkaConfig): void;
  /** Resolves when all records that were read are stored. */
  stop(): Promise<void>;
}

/** Describes a live input that has stopped. The service alone cannot exclude that its workers have. */
export function noScoresText({ sinceMs, due }: HistoryProblem): string {
  const since = new Date(sinceMs).toISOString();
  return `no score arrived since ${since}, due every ${due}: the input or its workers have stopped`;
}

type HistoryConfiguration = Pick<LoadedConfig, 'registry' | 'stream' | 'incidents' | 'dataDir' | 'history'>;

/** Keeps the history in a thread of its own, so that requests never wait for it. A thread that fails is replaced. */
export function runHistory(
  config: HistoryConfiguration,
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Pick<Metrics, 'historyScores' | 'historyStalled'> },
): RunningHistory {
  const { registry, stream, incidents, dataDir, history } = config;
  const { days, gb, memoryMb } = history;
  const { topics, output } = stream;
  const followed = { registry, topics, incidentsTopic: incidents.topic, format: output.format };
  const place = { ...followed, dataDir, bounds: { days, gb }, memoryMb };
  const remote = new RemoteHistory();
  let stopping = false;
  let cluster: KafkaConfig | null = null;
  let worker: Worker | null = null;
  let ended = Promise.resolve();
  let restart: NodeJS.Timeout | null = null;
  let logged: string | null = null;

  const start = (kafka: KafkaConfig) => {
    const data: HistoryThreadData = { kafka, ...place };
    const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_MB_MAX };
    const started = new Worker(new URL('./history-thread.ts', import.meta.url), { workerData: data, resourceLimits });
    worker = started;
    ended = new Promise((resolve) => started.once('exit', () => resolve()));
    remote.connect(started);
    started.on('message', (message: HistoryMessage) => {
      remote.accept(message);
      if (message.kind === 'stored') metrics.historyScores.inc(message.scores);
      if (message.kind === 'clusters' && message.others.length > 0) {
        logger.warn({ clusters: message.others, dataDir }, 'the history of other Kafka clusters is kept and not shown');
      }
      if (message.kind === 'input' && message.stopped !== null) logger.warn(noScoresText(message.stopped));
      else if (message.kind === 'input') logger.info('scores arrive again');
      if (message.kind !== 'problem' || message.problem === logged) return;
      logged = message.problem;
      metrics.historyStalled.set(logged === null ? 0 : 1);
      if (logged === null) logger.info('the history is kept');
      else logger.warn({ reason: logged }, 'nothing is added to the history now');
    });
    started.on('error', (error: Error) => logger.error({ err: error }, 'the thread of the history failed'));
    started.once('exit', () => {
      if (stopping) return;
      remote.connect(null, 'its thread failed and starts again');
      metrics.historyStalled.set(1);
      restart = setTimeout(() => start(kafka), RESTART_MS);
    });
  };
  return {
    remote,
    kafka: () => cluster,
    begin(kafka) {
      cluster = kafka;
      start(kafka);
    },
    async stop() {
      stopping = true;
      if (restart !== null) clearTimeout(restart);
      worker?.postMessage({ kind: 'stop' } satisfies HistoryQuestion);
      await ended;
      remote.connect(null, 'the service is shutting down');
    },
  };
}
