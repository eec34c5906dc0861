import type { Dependency } from '../records/dependency.ts';
import { RESOURCE_LABELS } from '../records/series/resource-labels.ts';
import { isIdTemplate } from '../records/series/series-identity.ts';
import { completeDetector } from './complete-detector.ts';
import type { OutputSettings, RecordMapping, Topics, WrittenStream } from './config.ts';
import { DEPENDENCIES_MAX, dependencies } from './keys/dependency-keys.ts';
import { detectorKeys } from './keys/detector-keys.ts';
import type { PrometheusSource } from './keys/source-keys.ts';
import { prometheusSource } from './keys/source-keys.ts';
import type { WorkerLimits } from './options/options.ts';
import { workerLimits } from './options/options.ts';
import { holdsMany, isPointsFormat } from './rekeyed-input.ts';
import { boolean, durationMs, oneOf, recordPath, text, textMatching, textOf, topicName } from './schema/kinds.ts';
import type { MappingPlace } from './schema/place.ts';
import { readSettings } from './schema/read-settings.ts';
import { defaulted, type Key, listOf, oneOrMore, optional, required, section } from './schema/schema.ts';
import { timeZone } from './schema/times.ts';

/** The content of a detectors file. Limits that it does not name are absent. */
export interface DetectorsFile {
  readonly stream: Omit<WrittenStream, 'groupId' | 'groupInstanceId' | 'topics' | 'earlierChangelog'> & {
    readonly topics: WrittenTopics;
  };
  readonly sources: readonly PrometheusSource[];
  readonly dependsOn: readonly Dependency[];
  readonly worker: Partial<WorkerLimits>;
}

/** The default name of the changelog contains the group id, which the file does not have. */
export type WrittenTopics = Omit<Topics, 'changelog'> & { readonly changelog: string | null };

const topics = section(
  {
    observations: defaulted(
      topicName,
      'observations',
      'Input; keyed by series, or by group if thresholds are multivariate.',
    ),
    scores: defaulted(
      topicName,
      'anomaly-scores',
      'One score for every observation; same key and partition count as the input.',
    ),
    events: defaulted(
      topicName,
      'anomaly-events',
      'One record when an event opens, changes and ends; same key and partition count.',
    ),
    changelog: optional(topicName, 'Compacted; the state of every series. Default: GROUP-changelog.'),
    deadLetters: defaulted(topicName, 'dead-letters', 'Records that could not become a score, with the reason.'),
  },
  ({ changelog, ...others }, place): WrittenTopics => {
    const { deadLetters, ...rest } = others;
    const written = Object.entries({ ...rest, changelog, dead_letters: deadLetters });
    for (const [index, [key, name]] of written.entries()) {
      const first = written.findIndex(([, other]) => other === name);
      if (first < index && name !== undefined) {
        place.problem(key, `another topic than topics.${written[first][0]}`, name);
      }
    }
    return { ...others, changelog: changelog ?? null };
  },
);

const labelKind = textOf('labels without __name__, which is the name of the metric', (label) =>
  label === '' || label === '__name__' ? undefined : label,
);
const idTemplateKind = textOf('a text with labels in braces such as {job}/{__name__}', (template) =>
  isIdTemplate(template) ? template : undefined,
);

const input = section(
  {
    format: defaulted(
      oneOf('json', 'avro', 'json-schema', 'protobuf', 'otlp', 'prometheus', 'influx'),
      'json',
      'Registry formats need SCHEMA_REGISTRY_URL. otlp, prometheus, influx: points of pipelines, with their names.',
    ),
    series: defaulted(
      oneOrMore(recordPath),
      'series',
      'Path of the id of the series, or several whose values are joined by /.',
    ),
    labels: optional(recordPath, 'Path of an object of labels: the id is SERIES{label="value",...}, sorted.'),
    time: defaulted(recordPath, 'timestamp', 'Path of the event time.'),
    timeUnit: optional(
      oneOf('s', 'ms', 'us', 'ns', 'iso'),
      'Integers since the epoch, or iso: text. Default: ms; of influx, which has no iso, ns.',
    ),
    timeZone: optional(
      timeZone,
      'Time zone of times without one (time_unit: iso), such as Europe/Berlin. Default: UTC.',
    ),
    value: defaulted(
      recordPath,
      'value',
      'Path of the value: dots for objects, brackets for arrays, ["a.b"] for a key with a dot.',
    ),
    start: optional(
      recordPath,
      'Path of the start time of a counter, in the unit of time; a new start is a reset. Default: start.',
    ),
    temporality: optional(
      recordPath,
      'Path of delta (the value is an increase since start) or cumulative, of counters. Default: temporality.',
    ),
    values: optional(
      oneOrMore(recordPath),
      'Instead of value: paths of values, or of objects of them. Series: SERIES/NAME, with labels SERIES_NAME{...}.',
    ),
    repartition: defaulted(
      boolean,
      false,
      'true: workers first key each record by its series. Always true if a record has many values.',
    ),
    keyedBy: defaulted(
      oneOf('series', 'other'),
      'series',
      'The key of a record; other: the same in all records of a series.',
      'key',
    ),
    futureMsMax: optional(
      durationMs,
      'A record further ahead of the clock becomes a dead letter. Default: 3 steps of the series, at least 1min.',
      'future_limit',
    ),
    idTemplate: optional(
      idTemplateKind,
      'Template of ids from labels, such as {job}/{__name__}. Default: name and labels.',
      'id',
    ),
    resourceLabels: optional(
      oneOrMore(text),
      'Resource attributes of OpenTelemetry that become labels: names, or globs without changing attributes. ' +
        `Default: ${RESOURCE_LABELS.join(', ')}.`,
    ),
    replicaLabel: optional(
      labelKind,
      'Label of the replica of an HA pair, whose members send the same series: one is used at a time.',
    ),
    dropLabels: optional(
      oneOrMore(labelKind),
      'Labels to remove from ids, such as pod: series that differ only in these become one.',
    ),
  },
  ({ futureMsMax, dropLabels, idTemplate, timeUnit, timeZone: zone, ...written }, place): RecordMapping => {
    const { labels, values, start, temporality, resourceLabels, replicaLabel, ...fields } = written;
    const { format } = fields;
    const mapping: RecordMapping = {
      ...fields,
      timeUnit: timeUnit ?? (format === 'influx' ? 'ns' : 'ms'),
      ...(zone !== undefined && { timeZone: zone }),
      ...(labels !== undefined && { labels }),
      ...(values !== undefined && { values }),
      ...(start !== undefined && { start }),
      ...(temporality !== undefined && { temporality }),
      ...(resourceLabels !== undefined && { resourceLabels }),
      ...(replicaLabel !== undefined && { replicaLabel }),
      futureMsMax: futureMsMax ?? null,
      dropLabels: dropLabels ?? [],
      idTemplate: idTemplate ?? null,
    };
    if (replicaLabel !== undefined && mapping.dropLabels?.includes(replicaLabel)) {
      place.problem('replica_label', 'a label that is not in drop_labels', replicaLabel);
    }
    if (zone !== undefined) refuseTimeZone(mapping, place);
    if (isPointsFormat(format)) {
      const named = [
        'series',
        'labels',
        'time',
        'value',
        'values',
        'start',
        'temporality',
        ...(format === 'influx' ? [] : ['time_unit']),
      ];
      for (const key of named.filter((name) => place.has(name))) {
        place.reportKey(key, `${place.pathOf(key)} must be left out: records of format ${format} have their own`);
      }
      if (timeUnit === 'iso') place.problem('time_unit', 'one of s, ms, us, ns, because format is influx', timeUnit);
    }
    if (values !== undefined && place.has('value')) {
      place.reportKey('value', `${place.pathOf('value')} must be left out if ${place.pathOf('values')} is set`);
    }
    if (!holdsMany(mapping)) return mapping;
    if (place.has('repartition') && !fields.repartition) {
      place.reportKey('repartition', `${place.pathOf('repartition')} must be true if a record has many values`);
    }
    if (fields.keyedBy === 'other') {
      place.reportKey('key', `${place.pathOf('key')} must be left out: each value gets its series as key`);
    }
    return { ...mapping, repartition: true };
  },
);

/** A repartition writes records with one instant, which is not known yet of a time that a clock shows twice. */
function refuseTimeZone(mapping: RecordMapping, place: MappingPlace): void {
  const path = place.pathOf('time_zone');
  if (mapping.timeUnit !== 'iso') place.reportKey('time_zone', `${path} needs time_unit: iso`);
  if (mapping.repartition || holdsMany(mapping)) {
    const remedy = 'send times with their zone';
    place.reportKey('time_zone', `${path} must be left out if records get new keys (repartition): ${remedy}`);
  }
}

const headerName = textMatching('the name of a header: 1 to 100 printable ASCII characters', /^[\x21-\x7e]{1,100}$/);

const output = section(
  {
    format: defaulted(oneOf('json', 'avro', 'json-schema'), 'json', 'Of scores and events.'),
    compression: defaulted(oneOf('none', 'gzip', 'zstd'), 'none', 'Of scores and events.'),
    timestamps: defaulted(
      oneOf('event-time', 'processing-time'),
      'event-time',
      "Timestamps of scores and events, from which Kafka's retention counts.",
    ),
    headers: optional(oneOrMore(headerName), 'Headers of an input record to copy to its score.'),
  },
  ({ headers, ...settings }): OutputSettings => ({ ...settings, headers: headers ?? [] }),
);

/** Flags and variables of the same meaning win over them. */
const worker = section(
  Object.fromEntries(
    Object.entries(workerLimits).map(([name, { env, kind, help }]) => {
      const written = env!.replace(/^KAFKA_/, '').toLowerCase();
      return [name, optional(kind, `${help}; ${env}.`, written)];
    }),
  ) as { readonly [K in keyof WorkerLimits]: Key<number | undefined> },
  (limits): Partial<WorkerLimits> =>
    Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)),
);

const detector = section(detectorKeys, (fields, place) => completeDetector(fields, place) ?? undefined);

/** A detectors file: which series are scored, and how. */
export const detectorsSchema = section(
  {
    topics: defaulted(topics, {}, 'Names of the topics.'),
    input: defaulted(input, {}, 'Paths of id, time and value in an input record.'),
    sources: optional(
      oneOrMore(prometheusSource),
      'Queries of Prometheus that `poll` writes to the input: one, or a list.',
      'source',
    ),
    output: defaulted(output, {}, 'Format of scores and events.'),
    worker: defaulted(worker, {}, 'Limits of a worker. Flags and environment variables take precedence.'),
    detectors: required(
      listOf(detector, { named: true }),
      'The first detector whose globs match a series takes it. A series without a detector is a dead letter.',
    ),
    dependsOn: optional(
      dependencies,
      'Hints for incidents: series with some labels depend on those with others. Evidence, not rules.',
    ),
  },
  ({ sources = [], dependsOn = [], ...file }, place) => {
    const repeated = sources.find(({ name }, i) => sources.findIndex((other) => other.name === name) < i);
    if (repeated !== undefined) place.problem('source', 'a list whose entries have a name each', repeated.name);
    if (dependsOn.length > DEPENDENCIES_MAX) {
      place.problem('depends_on', `at most ${DEPENDENCIES_MAX} hints`, dependsOn.length);
    }
    return { ...file, sources, dependsOn };
  },
);

/** Reads a detectors file; null when it cannot be parsed. Adds to `problems`, which begin with `name`. */
export function readDetectorsFile(name: string, content: string, problems: string[]): DetectorsFile | null {
  const file = readSettings({ name, content }, detectorsSchema, problems);
  if (file === undefined) return null;
  const { worker, sources, dependsOn, detectors = [], ...stream } = file;
  return { stream: { ...stream, detectors }, sources, dependsOn, worker };
}

/** Without a detectors file: default topics and mapping. There is no detector, since a frequency cannot be guessed. */
export const noDetectorsFile: DetectorsFile = readDetectorsFile('', '{}', [])!;
