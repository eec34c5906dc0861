import { createEventDecoder, type DecodeEvent } from '../../../codecs/event-codec.ts';
import { connectRegistry } from '../../../codecs/formats/registry.ts';
import { createIncidentDecoder, type DecodeIncident } from '../../../codecs/incident-codec.ts';
import { createScoreDecoder, type DecodeScore } from '../../../codecs/score-decoder.ts';
import type { KafkaConfig, RegistryConfig, StreamConfig } from '../../../config/config.ts';
import type {
  HistoryBatch,
  HistorySource,
  HistoryStore,
  IncidentRevision,
  KeptDeadLetter,
  KeptEvent,
  KeptScore,
  SourcePosition,
} from '../../../history/port/history-port.ts';
import type { TailPlace } from '../../../kafka/fetch/tail-place.ts';
import { type TopicRecord, tailTopic } from '../../../kafka/fetch/topic-tail.ts';
import { isMissingTopic, keepTail, pause, readEach } from '../topic-reading.ts';

/** Incidents are made by a process of its own, which not everybody runs. */
const OPTIONAL: readonly HistorySource[] = ['incidents'];

export interface FollowedTopics {
  readonly kafka: KafkaConfig;
  readonly registry: RegistryConfig | null;
  readonly topics: StreamConfig['topics'];
  readonly incidentsTopic: string;
  readonly format: StreamConfig['output']['format'];
}

interface Following {
  readonly history: HistoryStore;
  readonly signal: AbortSignal;
  onStored(batch: HistoryBatch): void;
  /** Why nothing is added now; null while all is well. */
  onProblem(problem: string | null): void;
}

type ReadBatch = (records: readonly TopicRecord[]) => Promise<Omit<HistoryBatch, 'positions'>>;

/** Stores what the topics hold that are kept, from where it was stored, until the signal. */
export async function followTopics(topics: FollowedTopics, following: Following): Promise<void> {
  const { format, registry: config, incidentsTopic } = topics;
  const registry = config === null ? null : await connectRegistry(config);
  const problems = new Map<string, string>();
  const report = (topic: string, problem: string | null) => {
    if (problem === null) problems.delete(topic);
    else problems.set(topic, problem);
    following.onProblem(problems.values().next().value ?? null);
  };
  const scoreOf = createScoreDecoder(format, registry);
  const eventOf = createEventDecoder(format, registry);
  const incidentOf = createIncidentDecoder(format, registry);
  const reads: Readonly<Record<HistorySource, { readonly topic: string; readonly read: ReadBatch }>> = {
    scores: {
      topic: topics.topics.scores,
      read: async (records) => ({ ...NOTHING, scores: await keptScores(records, scoreOf) }),
    },
    events: {
      topic: topics.topics.events,
      read: async (records) => ({ ...NOTHING, events: await keptEvents(records, eventOf) }),
    },
    incidents: {
      topic: incidentsTopic,
      read: async (records) => ({ ...NOTHING, incidents: await keptIncidents(records, incidentOf) }),
    },
    'dead-letters': {
      topic: topics.topics.deadLetters,
      read: async (records) => ({ ...NOTHING, deadLetters: await keptLetters(records) }),
    },
  };
  following.onProblem(null);
  try {
    await Promise.all(
      Object.entries(reads).map(([source, { topic, read }]) =>
        followTopic(topics.kafka, {
          ...following,
          source: source as HistorySource,
          topic,
          read,
          report: (problem) => report(topic, problem),
        }),
      ),
    );
  } finally {
    await registry?.close();
  }
}

const NOTHING = { scores: [], events: [], incidents: [], deadLetters: [] };

interface FollowedTopic extends Following {
  readonly source: HistorySource;
  readonly topic: string;
  readonly read: ReadBatch;
  report(problem: string | null): void;
}

async function followTopic(kafka: KafkaConfig, followed: FollowedTopic): Promise<void> {
  const { signal, topic, source, history, report } = followed;
  const batches = new BatchStore(followed);
  const onConnection = (error: Error | null) => report(error?.message ?? null);
  const open = async () =>
    tailTopic(
      { config: kafka },
      { topic, from: placeOf(await history.positions(), source) },
      { onRecords: (records, after) => batches.accept(records, after), onConnection },
    );
  await keepTail(open, {
    signal,
    // The topic is not there yet, or Kafka is away.
    report: (error) => onConnection(error && isMissingTopic(error) && OPTIONAL.includes(source) ? null : error),
  });
  await batches.stored;
}

function placeOf(positions: readonly SourcePosition[], source: HistorySource): TailPlace {
  const own = positions.filter((position) => position.source === source);
  return {
    topicId: own[0]?.topicId ?? null,
    positions: new Map(own.map(({ partition, nextOffset }) => [partition, nextOffset])),
  };
}

/** Stores one batch while the next one is read: decoding takes this thread, storing those of the database. */
class BatchStore {
  readonly #followed: FollowedTopic;
  stored: Promise<void> = Promise.resolve();

  constructor(followed: FollowedTopic) {
    this.#followed = followed;
  }

  /** Resolves when the next batch may be read. */
  async accept(records: readonly TopicRecord[], { topicId, positions }: TailPlace): Promise<void> {
    const { source, history, read, onStored } = this.#followed;
    const after = [...positions].map(([partition, nextOffset]) => ({ source, topicId, partition, nextOffset }));
    const batch = await this.#untilDone(async () => ({ ...(await read(records)), positions: after }));
    await this.stored;
    if (batch === null) return;
    this.stored = this.#untilDone(async () => onStored(await history.append(batch))).then(() => undefined);
  }

  /** Tries again until the thread ends (null): what is not stored is read again after a restart. */
  async #untilDone<T>(work: () => Promise<T>): Promise<T | null> {
    const { signal, report } = this.#followed;
    for (let failed = false; !signal.aborted; ) {
      try {
        const done = await work();
        if (failed) report(null);
        return done;
      } catch (error) {
        failed = true;
        report((error as Error).message);
        await pause(signal);
      }
    }
    return null;
  }
}

function keptScores(records: readonly TopicRecord[], decode: DecodeScore): Promise<KeptScore[]> {
  // Fields one by one: there are tens of thousands of records a second, and spreads take longer than parsing them.
  return readEach(records, async (value, { partition, offset }) => {
    const score = await decode(value);
    return {
      partition,
      offset,
      series: score.series,
      detector: score.detector,
      group: score.group,
      timestampMs: score.timestampMs,
      value: score.value,
      forecast: score.forecast,
      lo: score.lo,
      hi: score.hi,
      anomalyScore: score.anomalyScore,
      grade: score.grade,
      severity: score.severity,
      alarm: score.alarm,
      anomaly: score.anomaly,
      state: score.state,
    };
  });
}

function keptEvents(records: readonly TopicRecord[], decode: DecodeEvent): Promise<KeptEvent[]> {
  return readEach(records, async (value, { partition, offset }) => {
    return { partition, offset, event: await decode(value) };
  });
}

function keptIncidents(records: readonly TopicRecord[], decode: DecodeIncident): Promise<IncidentRevision[]> {
  return readEach(records, async (value, { partition, offset }) => {
    return { partition, offset, incident: await decode(value) };
  });
}

function keptLetters(records: readonly TopicRecord[]): Promise<KeptDeadLetter[]> {
  return readEach(records, async (value, { partition, offset }) => {
    const record = value.toString();
    const { reason, atMs } = JSON.parse(record) as { readonly reason: unknown; readonly atMs: unknown };
    if (typeof reason !== 'string' || typeof atMs !== 'number') throw new Error('not a dead letter');
    return { partition, offset, reason, atMs, record };
  });
}
