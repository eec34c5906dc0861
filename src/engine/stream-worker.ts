import type { EncodeEvent } from '../codecs/event-codec.ts';
import type { SchemaSource } from '../codecs/formats/schema-source.ts';
import { createRecordDecoder } from '../codecs/observations/record-decoder.ts';
import { createRecordSplitter } from '../codecs/points/record-splitter.ts';
import type { EncodeScore } from '../codecs/score-encoder.ts';
import type { StreamConfig } from '../config/config.ts';
import type { WorkerLimits } from '../config/options/options.ts';
import { holdsMany, scoredInput } from '../config/rekeyed-input.ts';
import { ServiceError } from '../ops/service-error.ts';
import type { InputPlace } from '../records/score-record.ts';
import { meanStepMs } from '../time/frequency.ts';
import { DetectorTimes } from './arrival/detector-times.ts';
import type { RecordRoute } from './commit/route-records.ts';
import type { EngineReports } from './engine-reports.ts';
import type { StreamLog, Subscription } from './log/log.ts';
import { MemoryGuard } from './memory-guard.ts';
import { PartitionTask } from './partition-task.ts';
import type { RecordOrder } from './record-order.ts';
import { ForecastTurns } from './state/requested-forecasts.ts';
import { WorkerPace } from './state/worker-pace.ts';
import type { StrategyContext } from './strategy/partition-strategy.ts';
import { Rekeying } from './strategy/rekeying.ts';
import { RestoreTurns } from './strategy/restore-turns.ts';
import { Scoring } from './strategy/scoring.ts';
import { detectorsOfInput, isGrouped, type LoadedDetector } from './unit/loaded-detector.ts';
import type { WarmStart } from './warm-start.ts';

/** Default of `future_limit`: so many steps, and at least a minute. */
const FUTURE_STEPS = 3;
const FUTURE_MS_MIN = 60_000;

export interface WorkerOptions {
  readonly log: StreamLog;
  readonly stream: StreamConfig;
  readonly limits: WorkerLimits;
  /** In the order of the detectors file. */
  readonly detectors: readonly LoadedDetector[];
  readonly version?: number;
  readonly encodeScore: EncodeScore;
  readonly encodeEvent: EncodeEvent;
  /** Place where records go instead of being scored. */
  readonly route?: RecordRoute | null;
  /** With a route: the order in which records of the partitions take it. */
  readonly order?: RecordOrder | null;
  readonly warmStart?: WarmStart | null;
  /** Needed for formats that are decoded by schema. */
  readonly schemas: SchemaSource | null;
  readonly reports: EngineReports & WorkerReports;
  readonly nowMs: () => number;
  /** For tests; else what the system reports of this process. */
  readonly usedBytes?: () => number;
}

export interface WorkerReports {
  assigned(partitions: readonly number[]): void;
  /** Kafka cannot be reached (`error`) or back (null). */
  connection(error: Error | null): void;
  /** Records of a partition arrived, whose end was `endOffset` then. */
  fetched(partition: number, endOffset: number): void;
  /** A broker has answered a fetch. */
  fetchAnswered(seconds: number): void;
}

export interface Worker {
  /** Reason why the worker does not score right now, one sentence each; empty when it does. */
  notReady(): string[];
  /** Resolves when the worker ends: with null after `stop`, otherwise with the fatal error. */
  readonly finished: Promise<Error | null>;
  /**
   * Scores by other detectors from the next commit of each partition on: its task ends, and another one restores the
   * partition under them. Series whose settings are the same continue where they were.
   */
  changeDetectors(detectors: readonly LoadedDetector[], version: number): void;
  /** Completes the transactions in flight, then leaves the consumer group. */
  stop(): Promise<void>;
}

/** Joins the consumer group and scores the assigned partitions. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { log, reports } = options;
  const partitionCount = await log.partitionCount();
  const { promise: finished, resolve: finish } = Promise.withResolvers<Error | null>();
  const { promise: subscribed, resolve: onSubscribed } = Promise.withResolvers<Subscription>();
  const tasks = new Map<number, PartitionTask>();
  /** Revoked tasks that have not ended, by partition. A later task of the partition waits for them. */
  const ending = new Map<number, Promise<void>>();
  const stalled = new Map<number, Error>();
  let connectionError: Error | null = null;
  let [assigned, stopping] = [false, false];

  const revoke = (partition: number, task: PartitionTask) => {
    tasks.delete(partition);
    stalled.delete(partition);
    const ended = task.stop().then(() => {
      if (ending.get(partition) === ended) ending.delete(partition);
    });
    ending.set(partition, ended);
  };

  let scoring = commonTaskOptions(options, partitionCount);
  /** With groups, a task waits until all partitions are restored: it must know which groups the others own. */
  const add = (partitions: readonly number[]) => {
    const { promise: placesKnown, resolve: onPlacesKnown } = Promise.withResolvers<unknown>();
    for (const partition of partitions) {
      const place = { topic: options.stream.topics.observations, partition };
      const free = Promise.resolve(ending.get(partition)).then(() => subscribed);
      tasks.set(partition, new PartitionTask({ ...scoring.taskOptions, place, free, placesKnown, onFatal: finish }));
    }
    const restores = scoring.hasGroups ? Array.from(tasks.values(), ({ restoreTried }) => restoreTried) : [];
    void Promise.all(restores).then(onPlacesKnown);
  };
  const subscription = await log.subscribe({
    onAssignment(partitions) {
      // Other workers may stop at the same time. Their partitions are not taken over.
      if (stopping) return;
      assigned = true;
      reports.assigned(partitions);
      if (partitions.some((partition) => partition >= partitionCount)) {
        const text = `topic ${options.stream.topics.observations} has more than ${partitionCount} partitions now`;
        finish(new ServiceError('topic-mismatch', `${text}; the worker must check all topics again`));
        return;
      }
      const kept = new Set(partitions);
      for (const [partition, task] of tasks) if (!kept.has(partition)) revoke(partition, task);
      add(partitions.filter((partition) => !tasks.has(partition)));
    },
    onRecords: (partition, records, nextOffset) => tasks.get(partition)?.accept(records, nextOffset),
    onConnection(error) {
      connectionError = error;
      reports.connection(error);
    },
    onStalled(partition, error) {
      if (error === null) stalled.delete(partition);
      else stalled.set(partition, error);
    },
    onFatal: finish,
  });
  onSubscribed(subscription);
  if (connectionError === null) reports.connection(null);

  return {
    finished,
    notReady() {
      if (connectionError !== null) return [`Kafka cannot be reached: ${connectionError.message}`];
      if (!assigned) return ['the consumer group has not assigned partitions yet'];
      return whyPartitionsWait(tasks, stalled, [scoring.taskOptions.memory.reason(), log.delayedBy()]);
    },
    changeDetectors(detectors, version) {
      if (stopping) return;
      scoring = commonTaskOptions({ ...options, detectors, version }, partitionCount);
      const held = new Map(tasks);
      held.forEach((task, partition) => void revoke(partition, task));
      add([...held.keys()]);
    },
    async stop() {
      stopping = true;
      await Promise.all([...ending.values(), ...Array.from(tasks.values(), (task) => task.stop())]);
      await subscription.stop();
      await log.close();
      finish(null);
    },
  };
}

function whyPartitionsWait(
  tasks: ReadonlyMap<number, PartitionTask>,
  stalled: ReadonlyMap<number, Error>,
  ofAll: readonly (string | null)[],
): string[] {
  const restoring = Array.from(tasks).filter(([, task]) => task.restoring);
  const stalledCommits = Array.from(tasks).flatMap(([partition, { restoring: waits, stalled: error }]) => {
    return waits || error === null ? [] : [[partition, error] as const];
  });
  return [
    ...restoring.map(([partition, { failure }]) => {
      const after = failure === null ? '' : ` after a failure: ${failure.message}`;
      return `partition ${partition} is being restored${after}`;
    }),
    ...[...stalled, ...stalledCommits].map(([partition, error]) => {
      return `partition ${partition} makes no progress: ${error.message}`;
    }),
    ...ofAll.filter((reason) => reason !== null),
  ];
}

/** Clocks differ by seconds: a record is refused where it is clearly wrong, not where its series is quick. */
function futureLimitMs(detector: LoadedDetector | null): number {
  const stepMs = detector === null ? 0 : meanStepMs(detector.config.settings.freq);
  return Math.max(FUTURE_MS_MIN, FUTURE_STEPS * stepMs);
}

function commonTaskOptions(options: WorkerOptions, partitionCount: number) {
  const { log, stream, limits, detectors, encodeScore, encodeEvent, schemas, reports, nowMs } = options;
  const hasGroups = detectors.some(isGrouped);
  const { detectorOf, matchDetector, groupSourceOf, idOf } = detectorsOfInput(detectors, stream.input);
  const futureLimitOf = (series: string) => futureLimitMs(detectorOf(series));
  const splitting = {
    groupPathOf: (series: string) => (detectorOf(series) === null ? 'unwatched' : groupSourceOf(series)),
    futureLimitOf,
    schemas,
  } as const;
  const { topics } = stream;
  const { route = null } = options;
  const reported = { limits, reports, places: new Map<string, number>() };
  const partitionOptions = {
    ...reported,
    topics,
    // Where nothing is learned of series, more partitions move none away from its state.
    partitionCount: route === null ? partitionCount : 0,
    encodeScore,
    encodeEvent,
    timestamps: stream.output.timestamps,
    keyedBy: stream.input.keyedBy ?? 'series',
    nowMs,
    detectorOf,
    matchDetector,
    idOf,
    detectorNamed: new Map(detectors.map((detector) => [detector.config.name, detector])),
    decoder: createRecordDecoder(scoredInput(stream.input), {
      groupSourceOf: hasGroups ? groupSourceOf : null,
      futureLimitOf,
      onZoneless: () => reports.timesWithoutZone(),
      schemas,
    }),
    splitter: route !== null && holdsMany(stream.input) ? createRecordSplitter(stream.input, splitting) : null,
    detectorsVersion: options.version ?? 0,
    warmStart: options.warmStart ?? null,
    backfillPace: new WorkerPace(limits.backfillForecastsPerSMax),
    forecastTurns: new ForecastTurns(limits.commitIntervalMs),
    restoreTurns: new RestoreTurns(),
    times: new DetectorTimes(nowMs),
  };
  const strategyFor = (place: InputPlace, context: StrategyContext) => {
    const own = { ...partitionOptions, place };
    return route === null ? new Scoring(own, context) : new Rekeying(own, route, context);
  };
  const taskOptions = {
    ...reported,
    log,
    order: options.order ?? null,
    transactionPace: new WorkerPace(limits.transactionsPerSMax),
    strategyFor,
    memory: new MemoryGuard({
      bytesMax: limits.memoryMbMax === 0 ? null : limits.memoryMbMax * 1024 * 1024,
      usedBytes: options.usedBytes ?? (() => process.memoryUsage.rss()),
      nowMs,
    }),
  };
  return { hasGroups, taskOptions };
}
