import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '../../../codecs/formats/quoted.ts';
import type { Topics } from '../../../config/config.ts';
import { createKafkaLog } from '../../../engine/log/kafka-log.ts';
import type { OutputRecord, PartitionSession, Subscription } from '../../../engine/log/log.ts';
import type { KafkaConnection } from '../../../kafka/cluster/connection.ts';
import { readWholeTopic, type TopicRecord, tailTopic } from '../../../kafka/fetch/topic-tail.ts';
import type { Logger } from '../../../ops/logger.ts';
import { ServiceError } from '../../../ops/service-error.ts';
import type { AnomalyEvent } from '../../../records/anomaly-event.ts';
import type { FollowRecords, SingletonLog, StateSession } from '../../../singleton/singleton-log.ts';
import { readEach } from '../topic-reading.ts';

const DECODE_RETRY_MS = 1_000;

interface KafkaSingletonLogOptions extends KafkaConnection {
  readonly readEvents: FollowRecords<AnomalyEvent>;
  /** Compacted, of one partition. */
  readonly stateTopic: string;
  /** Topic of one partition for the records that follow from events; null without such records. */
  readonly outputTopic: string | null;
  /** Consumer group of the processes of which one is active. */
  readonly groupId: string;
  readonly sessionMs: number;
}

/**
 * Implements the log on Kafka. The state is the only partition of a compacted topic. The consumer group of that topic
 * elects the active process, and a transactional producer fences the previous one. The positions in the events are part
 * of the state: what follows from an event and its position commit together.
 */
export function createKafkaSingletonLog(options: KafkaSingletonLogOptions): SingletonLog {
  const { stateTopic, outputTopic, groupId, sessionMs, readEvents, ...connection } = options;
  const topics: Topics = {
    observations: stateTopic,
    scores: stateTopic,
    events: outputTopic ?? stateTopic,
    changelog: stateTopic,
    deadLetters: stateTopic,
  };
  const log = createKafkaLog({ ...connection, topics, groupId, sessionMs });
  let subscription: Subscription | null = null;
  return {
    async join({ onActive, onConnection, onFatal }) {
      let wasActive: boolean | null = null;
      subscription = await log.subscribe({
        // Called after each change of the consumer group, also if nothing changes for this member.
        onAssignment: (partitions) => {
          const isActive = partitions.length > 0;
          if (isActive !== wasActive) onActive(isActive);
          wasActive = isActive;
        },
        onRecords: () => {},
        onConnection,
        onStalled: () => {},
        onFatal,
      });
      return {
        stop: async () => {
          await subscription?.stop();
          await log.close();
        },
      };
    },
    async openState(signal) {
      // A session fences the previous one, which must not be that of a process elected since.
      await subscription?.confirm(0, signal);
      return stateSession(await log.openPartition(0, signal), { stateTopic, outputTopic });
    },
    readEvents,
  };
}

interface RecordTopic<T> {
  readonly topic: string;
  readonly decode: (value: Buffer) => Promise<T>;
  /** Place to begin at without kept positions. */
  readonly from: 'earliest' | 'latest';
  readonly logger: Logger;
  readonly onUnreadable: (place: { readonly partition: number; readonly offset: number }, reason: string) => void;
}

export function followRecords<T>(connection: KafkaConnection, followed: RecordTopic<T>): FollowRecords<T> {
  const { topic, from, logger } = followed;
  return async (place, { onRecords, onConnection }) => {
    if (place !== null && from === 'earliest') {
      logger.warn({ topic }, '--from-beginning acts at the first start only: reading continues at the stored position');
    }
    const stopping = new AbortController();
    const { signal } = stopping;
    const read = (record: TopicRecord) => readRecord(record, { ...followed, signal, onConnection });
    const tail = await tailTopic(
      connection,
      { topic, from: place ?? from },
      {
        onRecords: async (records, after) => {
          const known: T[] = [];
          for (const record of records) known.push(...(await read(record)));
          if (!signal.aborted) await onRecords(known, after);
        },
        onConnection,
      },
    );
    return {
      begin: tail.begin,
      stop: () => {
        stopping.abort();
        return tail.stop();
      },
    };
  };
}

interface Decoding<T> extends Pick<RecordTopic<T>, 'decode' | 'onUnreadable'> {
  readonly signal: AbortSignal;
  readonly onConnection: (error: Error | null) => void;
}

/**
 * What a record holds, or nothing. Waits for a schema registry that is away. Skips a record of another kind: another
 * program has written it.
 */
async function readRecord<T>(
  { partition, offset, value }: TopicRecord,
  { decode, onUnreadable, signal, onConnection }: Decoding<T>,
): Promise<readonly T[]> {
  if (value === null) return [];
  for (let lost = false; !signal.aborted; lost = true) {
    try {
      const known = await decode(value);
      if (lost) onConnection(null);
      return [known];
    } catch (error) {
      if (!(error instanceof ServiceError)) {
        onUnreadable({ partition, offset }, reasonOf(error));
        return [];
      }
      if (!lost) onConnection(error);
      await sleep(DECODE_RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
  return [];
}

/** Begins with events that are open when it has no kept positions: they may have begun long before. */
export function openEventsFirst(connection: KafkaConnection, followed: RecordTopic<AnomalyEvent>) {
  const follow = followRecords(connection, followed);
  const readOpen = async () => {
    const open = new Map<string, AnomalyEvent>();
    await readWholeTopic(connection, followed.topic, async (records) => {
      // If a record cannot be read, its consumer reports it.
      for (const event of await readEach(records, followed.decode)) {
        if (event.type === 'closed') open.delete(event.eventId);
        else open.set(event.eventId, event);
      }
    });
    return [...open.values()].sort((a, b) => a.startedAtMs - b.startedAtMs);
  };
  const begin: FollowRecords<AnomalyEvent> = async (place, handlers) => {
    if (place !== null || followed.from === 'earliest') return follow(place, handlers);
    const known = Promise.withResolvers<boolean>();
    const tail = await follow(null, {
      ...handlers,
      onRecords: async (events, after) => {
        if (await known.promise) await handlers.onRecords(events, after);
      },
    });
    try {
      await handlers.onRecords(await readOpen(), tail.begin);
      known.resolve(true);
      return tail;
    } catch (error) {
      known.resolve(false);
      await tail.stop();
      throw error;
    }
  };
  return begin;
}

function stateSession(
  session: PartitionSession,
  { stateTopic, outputTopic }: Pick<KafkaSingletonLogOptions, 'stateTopic' | 'outputTopic'>,
): StateSession {
  return {
    load: (onEntry) => {
      return session.readChangelog((key, value) => onEntry(key.toString(), value === null ? null : value.toString()));
    },
    write: (changes, following = []) => {
      const outputs = [...changes].map(([key, json]): OutputRecord => {
        const value = json === null ? null : Buffer.from(json);
        return { topic: stateTopic, partition: 0, key: Buffer.from(key), value };
      });
      for (const { key, value } of following) {
        outputs.push({ topic: outputTopic!, partition: 0, key: Buffer.from(key), value });
      }
      return session.commit(outputs, 0);
    },
    close: () => session.close(),
  };
}
