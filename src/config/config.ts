import { createHash } from 'node:crypto';
import type { StreamDetectionSettings } from '../detection/calibration/settings.ts';
import type { EventRules } from '../detection/event/open/event-rules.ts';
import { UTC_CALENDAR } from '../time/local-calendar.ts';

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
 * discarded. Level and name are not part of it, nor whether there is a seasonal profile; its calendar is, except UTC.
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

export interface OutputSettings {
  readonly format: 'json' | 'avro' | 'json-schema';
  /** Codec of the batches of scores and events. */
  readonly compression: 'none' | 'gzip' | 'zstd';
  /** Timestamps of the records of scores and events: their event time, or when they were made. */
  readonly timestamps: 'event-time' | 'processing-time';
  /** Headers of an input record that its score gets, too. */
  readonly headers: readonly string[];
}

export interface StreamConfig {
  readonly groupId: string;
  /** Id of a static group member, whose partitions wait for it through a restart; null: a dynamic one. */
  readonly groupInstanceId: string | null;
  readonly topics: Topics;
  /** The default name of the changelog in earlier versions; null if it is the present name, or a name is given. */
  readonly earlierChangelog: string | null;
  readonly input: RecordMapping;
  readonly output: OutputSettings;
  readonly detectors: readonly DetectorConfig[];
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

export interface WrittenStream extends Omit<StreamConfig, 'detectors'> {
  readonly detectors: readonly WrittenDetector[];
}

/** The configuration, or all its problems, one sentence each. */
export type ConfigResult<C> =
  | { readonly kind: 'config'; readonly config: C }
  | { readonly kind: 'problems'; readonly problems: readonly string[] };
