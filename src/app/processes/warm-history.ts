import { createHash } from 'node:crypto';
import type { SchemaSource } from '../../codecs/formats/schema-source.ts';
import { type EncodedRecord, hasValue } from '../../codecs/formats/wire-header.ts';
import type { Decoded } from '../../codecs/observations/decoded.ts';
import type { GroupSourceOf } from '../../codecs/observations/mapping.ts';
import { createRecordDecoder } from '../../codecs/observations/record-decoder.ts';
import { createRecordSplitter } from '../../codecs/points/record-splitter.ts';
import type { KafkaConfig, RecordMapping, StreamConfig } from '../../config/config.ts';
import { holdsMany, scoredInput } from '../../config/rekeyed-input.ts';
import { detectorsOfStream, extrasFor, matchDetectors } from '../../engine/unit/loaded-detector.ts';
import type { WarmObservation, WarmStart } from '../../engine/warm-start.ts';
import { readWholeTopic, type TopicRecord } from '../../kafka/fetch/topic-tail.ts';
import { keyPartitioner } from '../../kafka/produce/key-partition.ts';
import type { Logger } from '../../ops/logger.ts';
import { ServiceError } from '../../ops/service-error.ts';
import { bareIdentity, groupIdOf, seriesIdentity } from '../../records/series/series-identity.ts';
import { openInput } from '../../tools/csv/input.ts';
import { type CsvReading, pullObservations, readObservations } from '../../tools/csv/observations.ts';

/** A history is held in memory as a whole. */
const HISTORY_MAX = 5_000_000;
const TOPIC_PREFIX = 'topic:';

/** A history as it is named, and how it is read where it is a file. */
export interface NamedHistory {
  /** A CSV file, or a topic as `topic:NAME`. */
  readonly name: string;
  readonly csv: CsvReading;
  readonly stop: AbortSignal;
  /** The group whose members the series of a file are, where their detector scores groups. */
  readonly group: string | null;
}

interface HistoryParts {
  readonly kafka: KafkaConfig;
  readonly stream: StreamConfig;
  readonly partitions: number;
  /** True if their keys are made of series and groups, regardless of the keys of the history. */
  readonly isRekeyed: boolean;
  readonly schemas: SchemaSource | null;
  readonly logger: Logger;
}

/** Reads a history. Throws ServiceError `configuration` with line and field of what cannot be used. */
export async function loadHistory(history: NamedHistory, parts: HistoryParts): Promise<WarmStart> {
  return history.name.startsWith(TOPIC_PREFIX)
    ? historyOfTopic(history.name.slice(TOPIC_PREFIX.length), parts)
    : historyOfFile(history, parts);
}

/** Its series are in the partitions that the command `feed`, and Kafka's own clients, choose by their key. */
async function historyOfFile({ name, csv, group, stop }: NamedHistory, parts: HistoryParts): Promise<WarmStart> {
  const { stream, partitions, logger } = parts;
  const detectorOf = matchDetectors(stream.detectors.map((config) => ({ config })));
  const identityOf = seriesIdentity(stream.input);
  const partitionOf = keyPartitioner(partitions);
  const history = new PartitionedHistory(name);
  const digest = createHash('sha256');
  const { bytes: input } = await openInput(name, stop);
  try {
    const bytes = (async function* () {
      for await (const chunk of input as AsyncIterable<Buffer>) {
        digest.update(chunk);
        yield chunk;
      }
    })();
    const { observations, refusals, problems } = pullObservations(readObservations(bytes, csv), (line) =>
      logger.info(line),
    );
    for await (const { line, series: written, timestampMs, value, extras: own } of observations) {
      const { id: series, source, replica } = identityOf?.(written) ?? bareIdentity(written);
      const detector = detectorOf(source)?.config ?? null;
      const extras = replica === undefined ? own : { ...own, replica };
      const problem = detector === null ? undefined : extrasFor({ config: detector }, extras)?.problem;
      if (detector === null) refusals.add(line, `series: no detector watches ${JSON.stringify(source)}`);
      else if (problem !== undefined) refusals.add(line, problem);
      else if (detector.group !== null && group === null) {
        refusals.add(line, `series: detector ${detector.name} scores groups, and --group does not name one`);
      } else {
        const id = detector.by === null ? detector.group && group : groupIdOf(source, detector.by);
        const made = (stream.input.idTemplate ?? null) === null ? undefined : source;
        const observation = { series, source: made, group: id, timestampMs, value, extras };
        history.add(partitionOf(Buffer.from(id ?? series)), observation);
      }
    }
    if (refusals.count + problems.length > 0) throw unusable(name, [...refusals.lines(), ...problems]);
  } finally {
    input.destroy();
  }
  return history.as(`file:${digest.digest('hex').slice(0, 32)}`);
}

/**
 * Records as the input has them. A topic with as many partitions as the input has its series where the input has them;
 * those of others are found by their keys.
 */
async function historyOfTopic(topic: string, parts: HistoryParts): Promise<WarmStart> {
  const { kafka, stream, partitions, isRekeyed, schemas, logger } = parts;
  const { detectorOf, groupSourceOf } = detectorsOfStream(stream);
  const isWatched = (series: string) => detectorOf(series) !== null;
  const decode = topicDecoder(stream.input, { groupSourceOf, isWatched, schemas });
  const partitionOf = keyPartitioner(partitions);
  const history = new PartitionedHistory(`topic ${topic}`);
  const refused: string[] = [];
  let refusedCount = 0;
  const onRecords = async (records: readonly TopicRecord[], count: number) => {
    for (const { partition, offset, key, decoded } of await decode(records)) {
      if (decoded.kind === 'observation') {
        const { series, source, group, timestampMs, value: observed, extras } = decoded;
        const id = Buffer.from(group ?? series);
        const isSame = count === partitions && !isRekeyed;
        const own = isSame ? partition : partitionOf(isRekeyed ? id : (key ?? id));
        history.add(own, { series, source, group, timestampMs, value: observed, extras });
      } else if (decoded.kind === 'dead-letter' && refusedCount++ < 10)
        refused.push(`partition ${partition} offset ${offset}: ${decoded.detail}`);
    }
  };
  await readWholeTopic({ config: kafka }, topic, onRecords);
  if (refusedCount > 0)
    logger.warn({ topic, refused: refusedCount, first: refused }, 'records of the history are skipped');
  return history.as(`topic:${topic}`);
}

function unusable(name: string, lines: readonly string[]): ServiceError {
  return new ServiceError('configuration', `${name} cannot be used as a history.\n${lines.join('\n')}`);
}

class PartitionedHistory {
  readonly #name: string;
  readonly #byPartition = new Map<number, WarmObservation[]>();
  #count = 0;

  constructor(name: string) {
    this.#name = name;
  }

  add(partition: number, observation: WarmObservation): void {
    if (++this.#count > HISTORY_MAX) {
      throw unusable(this.#name, [`A history holds at most ${HISTORY_MAX} observations: split it by series`]);
    }
    const own = this.#byPartition.get(partition);
    if (own === undefined) this.#byPartition.set(partition, [observation]);
    else own.push(observation);
  }

  as(source: string): WarmStart {
    return { source, observationsOf: (partition) => this.#byPartition.get(partition) ?? [] };
  }
}

interface TopicDecoding {
  readonly groupSourceOf: GroupSourceOf;
  /** Points of other series are omitted, where records hold many. */
  readonly isWatched: (series: string) => boolean;
  readonly schemas: SchemaSource | null;
}

/** Content of each record of a topic, in any format: an observation, many, or the reason of none. */
type DecodeRecords = (records: readonly TopicRecord[]) => Promise<(TopicRecord & { readonly decoded: Decoded })[]>;

function topicDecoder(input: RecordMapping, { groupSourceOf, isWatched, schemas }: TopicDecoding): DecodeRecords {
  const decoder = createRecordDecoder(scoredInput(input), { groupSourceOf, schemas });
  const splitting = {
    groupPathOf: (series: string) => (isWatched(series) ? groupSourceOf(series) : 'unwatched'),
    futureLimitOf: () => Number.POSITIVE_INFINITY,
    schemas,
  } as const;
  const splitter = holdsMany(input) ? createRecordSplitter(input, splitting) : null;
  const decode = (record: TopicRecord & EncodedRecord, nowMs: number) => {
    const split = splitter?.split(record, nowMs);
    if (split === undefined) return [{ ...record, decoded: decoder.decode(record, nowMs) }];
    if (split.kind === 'dead-letter') return [{ ...record, decoded: split }];
    const refused = split.reasons.map(
      (detail): Decoded => ({ kind: 'dead-letter', reason: 'points-refused', detail, series: null }),
    );
    const found = split.records.map((each) => decoder.decode(each, nowMs));
    return [...found, ...refused].map((decoded) => ({ ...record, decoded }));
  };
  return async (records) => {
    const { missingSchema, loadSchemas } = splitter ?? decoder;
    const nowMs = Date.now();
    const valued = records.filter(hasValue);
    const missing = new Set(valued.map((record) => missingSchema(record, nowMs)));
    const ids = [...missing].filter((id) => id !== null);
    if (ids.length > 0) await loadSchemas(ids, nowMs);
    return valued.flatMap((record) => decode(record, nowMs));
  };
}
