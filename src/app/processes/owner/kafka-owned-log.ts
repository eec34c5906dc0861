import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '../../../codecs/quoted.ts';
import type { Topics } from '../../../config/config.ts';
import { createKafkaLog } from '../../../engine/log/kafka-log.ts';
import type { OutputRecord, PartitionSession, Subscription } from '../../../engine/log/log.ts';
import type { KafkaConnection } from '../../../kafka/cluster/connection.ts';
import { type TopicRecord, tailTopic } from '../../../kafka/fetch/topic-tail.ts';
import { ServiceError } from '../../../ops/service-error.ts';
import type { AnomalyEvent } from '../../../records/anomaly-event.ts';
import type { FollowRecords, OwnedLog, StateSession } from '../../../singleton/owned-log.ts';

const DECODE_RETRY_MS = 1_000;

interface KafkaOwnedLogOptions extends KafkaConnection {
  readonly readEvents: FollowRecords<AnomalyEvent>;
  /** Compacted, of one partition. */
  readonly stateTopic: string;
  /** Where what follows from the events is written, to its only partition; null where nothing follows. */
  readonly outputTopic: string | null;
  /** Consumer group of the processes that may own this state. */
  readonly groupId: string;
  readonly sessionMs: number;
}

/**
 * The owned log on Kafka. The state is the only partition of a compacted topic; the consumer group of that topic
 * decides whose it is, and a transactional producer fences whoever had it before. The positions in the events are part
 * of the state: what follows from an event and its position commit together.
 */
export function createKafkaOwnedLog(options: KafkaOwnedLogOptions): OwnedLog {
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
    async join({ onOwner, onConnection, onFatal }) {
      let owned: boolean | null = null;
      subscription = await log.subscribe({
        // Called after each change of the consumer group, also where nothing changes for this member.
        onAssignment: (partitions) => {
          const owns = partitions.length > 0;
          if (owns !== owned) onOwner(owns);
          owned = owns;
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
      // A session fences the one before: it must not be that of the process which the group has chosen since.
      await subscription?.confirm(0, signal);
      return stateSession(await log.openPartition(0, signal), { stateTopic, outputTopic });
    },
    readEvents,
  };
}

interface RecordTopic<T> {
  readonly topic: string;
  readonly decode: (value: Buffer) => Promise<T>;
  /** Where it begins without kept positions. */
  readonly from: 'earliest' | 'latest';
  readonly onUnreadable: (place: { readonly partition: number; readonly offset: number }, reason: string) => void;
}

/** Follows a topic of records such as events. */
export function followRecords<T>(connection: KafkaConnection, followed: RecordTopic<T>): FollowRecords<T> {
  const { topic, from } = followed;
  return async (place, { onRecords, onConnection }) => {
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

interface SessionTopics {
  readonly stateTopic: string;
  readonly outputTopic: string | null;
}

function stateSession(session: PartitionSession, { stateTopic, outputTopic }: SessionTopics): StateSession {
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
