import { createHash } from 'node:crypto';
import type { StreamDetectionSettings } from '../detection/calibration/settings.ts';
import type { EventRules } from '../detection/event/open/event-rules.ts';
import type { Dependency } from '../records/dependency.ts';
import { UTC_CALENDAR } from '../time/local-calendar.ts';
import type { HttpConfig } from './http-config.ts';

/** Address and login of Kafka. Secrets never reach a log. */
export interface KafkaConfig {
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly tls: {
    readonly ca?: string;
    readonly cert?: string;
    readonly key?: string;
    readonly rejectUnauthorized: boolean;
    /** The files that they were read from, to be read again when they change. */
    readonly files?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  } | null;
  readonly sasl: SaslConfig | null;
}

export type SaslConfig =
  | {
      readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
      readonly username: string;
      readonly password: string;
    }
  | {
      readonly mechanism: 'oauthbearer';
      /** A file that holds the present token, or the client credentials flow of OAuth. */
      readonly tokens: { readonly file: string } | TokenEndpoint;
      readonly extensions: Readonly<Record<string, string>>;
    };

export interface TokenEndpoint {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string | null;
}

export interface RegistryConfig {
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
}

export interface Topics {
  readonly observations: string;
  readonly scores: string;
  readonly events: string;
  readonly changelog: string;
  readonly deadLetters: string;
}

export type RecordFormat = 'json' | 'avro' | 'json-schema' | 'protobuf';
/** Records of metric pipelines: each holds points of many series, which the format names. */
export type PointsRecordFormat = 'otlp' | 'prometheus' | 'influx';
export type TimeUnit = 's' | 'ms' | 'us' | 'ns' | 'iso';

/** Paths of id, time and value in an input record. Paths are dotted: `tags.host`, `points[0].value`. */
export interface RecordMapping {
  readonly format: RecordFormat | PointsRecordFormat;
  /** One path, or several whose values are joined by `/`. */
  readonly series: readonly string[];
  readonly time: string;
  readonly timeUnit: TimeUnit;
  /** The clock that times without a zone are of; null, or left out: UTC. */
  readonly timeZone?: string | null;
  readonly value: string;
  /** Since when a counter counts; left out: `start`. */
  readonly start?: string;
  /** `delta` or `cumulative`; left out: `temporality`. */
  readonly temporality?: string;
  /** Path of the labels of the id, by their names. */
  readonly labels?: string;
  /** Instead of `value`: paths of values, or of objects of values by their names. Each is a series of its own. */
  readonly values?: readonly string[];
  /** The key of a record of a series that is scored alone: the series, or something else that never changes. */
  readonly keyedBy?: 'series' | 'other';
  /** True if records first go through a topic that is keyed by series or group. */
  readonly repartition?: boolean;
  /** Most time that an event time may be ahead of the clock; null: a few steps of the series' detector. */
  readonly futureMsMax: number | null;
  /** Names and globs of the resource attributes of OpenTelemetry that are labels; left out: RESOURCE_LABELS. */
  readonly resourceLabels?: readonly string[];
  /** Labels that do not distinguish series. */
  readonly dropLabels?: readonly string[];
  /** The label that names the replica of an HA pair: one of them counts at a time. */
  readonly replicaLabel?: string | null;
  /** Template of the ids of series; null, or left out: the ids of the records. */
  readonly idTemplate?: string | null;
}

/** One entry of the detectors file; the first whose globs or matchers match a series takes it. */
export interface DetectorConfig {
  readonly name: string;
  /** Globs over series ids, or matchers of labels: `SeriesPattern`. */
  readonly series: readonly string[];
  /** Path of the group's id in the record (multivariate only); the record's key must be the group's id. */
  readonly group: string | null;
  /** Labels whose values make the groups (multivariate only); null: `group` does. */
  readonly by: readonly string[] | null;
  readonly model: string;
  readonly settings: StreamDetectionSettings;
  /** Rules by which alarms become events. Not part of the settings digest: a change takes effect at once. */
  readonly events: EventRules;
  /** Part of every event. */
  readonly labels: Readonly<Record<string, string>>;
  /** True if the id decides at which step the first window closes. Not part of the settings digest. */
  readonly isSpread?: boolean;
  /** For people: the unit of the values, and the clock that the series follow. */
  readonly unit?: string | null;
  readonly timezone?: string | null;
}

/** Source of the group that a series is scored with: a path in the record, or labels; null: it is scored alone. */
export type GroupSource = string | readonly string[] | null;

export function groupSourceOf({ by, group }: Pick<DetectorConfig, 'by' | 'group'>): GroupSource {
  return by ?? group;
}

/**
 * Digest of the settings that the state of a series depends on, 16 hexadecimal characters. State of another digest is
 * discarded. Level and name are not part of it, nor whether there is a long memory; its calendar is, unless it is UTC.
 * The model has a digest of its own. Aliases of a frequency (`h`, `60min`) have one digest.
 */
export function settingsDigest({ settings }: Pick<DetectorConfig, 'settings'>): string {
  const { alias: _, ...grid } = settings.freq;
  const { h, detectionSize, stepSize, calibrationSize, context, thresholdMethod, grace, aggregate, as } = settings;
  // The default was the detection size once. State of that time continues.
  const gapLimit = settings.gapLimit === context ? detectionSize : settings.gapLimit;
  const { offsets, specialDays } = settings.profile?.calendar ?? UTC_CALENDAR;
  const isUtc = offsets.length === 0 && specialDays.length === 0;
  const canonical = JSON.stringify([
    Object.entries(grid).sort(),
    ...[h, detectionSize, stepSize, calibrationSize, context, thresholdMethod, gapLimit, grace],
    ...(isUtc ? [] : [offsets, specialDays]),
    // Where neither is set, the digest is that of versions that had neither.
    ...(aggregate === undefined && as === undefined ? [] : [{ aggregate, as }]),
  ]);
  return createHash('sha256').update(canonical).digest('hex').slice(0, 16);
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

export interface WorkerLimits {
  readonly commitIntervalMs: number;
  /** Input records of one partition in one transaction. */
  readonly commitRecordsMax: number;
  /** Transactions a second of all partitions of a worker; above it the interval between transactions stretches. */
  readonly transactionsPerSMax: number;
  /** Forecasts a second of the backfills after a change of settings, of all partitions of a worker together. */
  readonly backfillForecastsPerSMax: number;
  /** Input records of one partition waiting to be processed; above it the partition is paused. */
  readonly queueRecordsMax: number;
  /** Series held of one partition. The longest idle is evicted, and starts over when it returns. */
  readonly seriesMax: number;
  /** Memory of the process at which partitions pause; 0: no limit. */
  readonly memoryMbMax: number;
  readonly inferenceThreads: number;
  readonly shutdownMsMax: number;
  /** Time that a starting worker waits for a broker that answers; 0: none. */
  readonly startWaitMs: number;
  /** Session timeout of the consumer group: then the partitions of a silent worker go to others. */
  readonly sessionMs: number;
}

/** Bounds of the history of scores and events. */
interface HistoryConfig {
  readonly days: number;
  readonly gb: number;
  /** Memory limit of DuckDB. */
  readonly memoryMb: number;
}

/** Scores that Prometheus scrapes. */
interface ScoresConfig {
  /** null: nothing; 0 takes any free port. */
  readonly port: number | null;
  /** Series in addition to those with open events, by a glob or matchers; null: none. */
  readonly series: string | null;
  readonly seriesMax: number;
}

/** Receiver of value bands. Authorization and headers are secrets. */
export interface RemoteWriteConfig {
  readonly url: string;
  readonly authorization: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** A glob or matchers of series. */
  readonly series: string;
}

export interface OutputSettings {
  readonly format: 'json' | 'avro' | 'json-schema';
  /** Codec of the batches of scores and events. */
  readonly compression: 'none' | 'gzip' | 'zstd';
  /** Timestamps of the records of scores and events: their event time, or when they were made. */
  readonly timestamps: 'event-time' | 'processing-time';
  /** Headers of an input record that its score gets, too. */
  readonly headers: readonly string[];
}

/** A query of PromQL whose results are polled into the input topic. */
export interface PrometheusSource {
  /** Its position has this name, and so have series whose result has none. */
  readonly name: string;
  /** Without credentials, which are options of the process. */
  readonly url: string;
  /** The variable that holds its value, by the name of each header. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: string;
  readonly stepMs: number;
  /** Time after a step at which its values are requested. */
  readonly delayMs: number;
  /** Length of the history that the first request covers. */
  readonly historyMs: number;
}

export interface StreamConfig {
  readonly groupId: string;
  /** Id of a static group member, whose partitions wait for it through a restart; null: a dynamic one. */
  readonly groupInstanceId: string | null;
  readonly topics: Topics;
  /** The default name of the changelog in earlier versions; null where it is the present name, or a name is given. */
  readonly earlierChangelog: string | null;
  readonly input: RecordMapping;
  readonly output: OutputSettings;
  readonly detectors: readonly DetectorConfig[];
}

export interface Config {
  /** null where no brokers were named. */
  readonly kafka: KafkaConfig | null;
  readonly registry: RegistryConfig | null;
  /** Headers of requests to any Prometheus, which are secrets. */
  readonly prometheusHeaders: Readonly<Record<string, string>>;
  /** The same of each source, by its name, with its own; read where a command requires them. */
  readonly sourceHeaders: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly stream: StreamConfig;
  readonly sources: readonly PrometheusSource[];
  /** Hints for incidents. */
  readonly dependsOn: readonly Dependency[];
  readonly worker: WorkerLimits;
  readonly http: HttpConfig;
  /** Port of OTLP over gRPC; null: none. */
  readonly grpcPort: number | null;
  readonly opsHost: string;
  /** 0 takes any free port. */
  readonly opsPort: number;
  /** True if the next free port is used when another program has this one: OPS_PORT is not set. */
  readonly opsPortMoves: boolean;
  readonly dataDir: string;
  /** `postgres://…`; null: the store is SQLite in `dataDir`. It may hold a password. */
  readonly storeUrl: string | null;
  readonly history: HistoryConfig;
  readonly scores: ScoresConfig;
  /** null: nothing is written. */
  readonly remoteWrite: RemoteWriteConfig | null;
  /** null where there is none. */
  readonly detectorsFile: string | null;
  /** Topic of detectors that are saved over HTTP. */
  readonly detectorsTopic: string;
  /** Topic of deployments and other changes. */
  readonly changesTopic: string;
  /** An incident ends `quietMs` after its last revision; null: by its steps. */
  readonly incidents: { readonly topic: string; readonly quietMs: number | null };
  readonly modelsDir: string | null;
  /** null: no alerts are sent. */
  readonly routes: string | null;
  readonly logLevel: LogLevel;
}

/** A detector as written: a missing context, gap limit or idle limit is null until `resolveConfig` knows the model. */
export interface WrittenDetector extends Omit<DetectorConfig, 'settings'> {
  readonly settings: Omit<StreamDetectionSettings, 'context' | 'gapLimit' | 'idleMs'> & {
    readonly context: number | null;
    readonly gapLimit: number | null;
    /** Infinity: never. */
    readonly idleMs: number | null;
  };
}

/** The configuration before models are known. Without a detectors file it has defaults, and no detectors. */
export interface LoadedConfig extends Omit<Config, 'stream'> {
  readonly stream: Omit<StreamConfig, 'detectors'> & { readonly detectors: readonly WrittenDetector[] };
}

/** The configuration, or all its problems, one sentence each. */
export type ConfigResult<C> =
  | { readonly kind: 'config'; readonly config: C }
  | { readonly kind: 'problems'; readonly problems: readonly string[] };
