import type { PointsRecordFormat, RecordFormat, RecordMapping, StreamConfig, Topics } from './config.ts';
import { topicNameOf } from './topic-name.ts';

type RekeyedStream = Pick<StreamConfig, 'groupId' | 'input' | 'topics'>;

/** Group and topics that carry records from the input to a topic that is keyed by series or group. */
export interface RekeyedInput {
  readonly groupId: string;
  /** Keyed by series or group, with as many partitions as the scores. */
  readonly topic: string;
  /** Topics of the group that reads the input: `changelog` keeps its position, with the partitions of the input. */
  readonly topics: Topics;
}

/** null if the input is scored as it is. */
export function repartitionOf({ groupId, input, topics }: RekeyedStream): RekeyedInput | null {
  if (input.repartition !== true) return null;
  const topic = `${topicNameOf(groupId, 220)}-repartition`;
  const { observations, deadLetters } = topics;
  return {
    groupId: `${groupId}-repartition`,
    topic,
    topics: { observations, scores: topic, events: topic, changelog: `${topic}-changelog`, deadLetters },
  };
}

const POINTS_FORMATS: ReadonlySet<string> = new Set<PointsRecordFormat>(['otlp', 'prometheus', 'influx']);

export function isPointsFormat(format: RecordFormat | PointsRecordFormat): format is PointsRecordFormat {
  return POINTS_FORMATS.has(format);
}

/** True if a record of the input may hold several observations. */
export function holdsMany({ format, values }: RecordMapping): boolean {
  return isPointsFormat(format) || values !== undefined;
}

/** Mapping of the records that are scored: if an input record holds many, each is one observation in JSON. */
export function scoredInput(input: RecordMapping): RecordMapping {
  if (!holdsMany(input)) return input;
  const { futureMsMax, dropLabels = [], idTemplate = null, replicaLabel = null } = input;
  const fields = { series: ['series'], time: 'timestamp', timeUnit: 'ms', value: 'value' } as const;
  return { format: 'json', ...fields, futureMsMax, dropLabels, idTemplate, replicaLabel };
}

/** The topics of a stream, with the records that are scored instead of the input. */
export function scoredTopics(stream: RekeyedStream): Topics {
  const { topics } = stream;
  return { ...topics, observations: repartitionOf(stream)?.topic ?? topics.observations };
}
