import { setTimeout as sleep } from 'node:timers/promises';
import type { AlertLog, AlertStateSession } from '../../alerts/alert-log.ts';
import type { Topics } from '../../config/config.ts';
import type { KafkaConnection } from '../../kafka/cluster/connection.ts';
import { type TopicRecord, tailTopic } from '../../kafka/fetch/topic-tail.ts';
import { ServiceError } from '../../service-error.ts';
import type { DecodeEvent } from '../../stream/codec/event-codec.ts';
import { reasonOf } from '../../stream/codec/quoted.ts';
import { createKafkaLog } from '../../stream/log/kafka-log.ts';
import type { OutputRecord, PartitionSession, Subscription } from '../../stream/log/log.ts';

const DECODE_RETRY_MS = 1_000;

type AnomalyEventRecord = Awaited<ReturnType<DecodeEvent>>;

export interface KafkaAlertLogOptions extends KafkaConnection {
  readonly eventsTopic: string;
  /** Compacted, of one partition. */
  readonly stateTopic: string;
  /** Consumer group of the processes that send the alerts of this state. */
  readonly groupId: string;
  readonly sessionMs: number;
  readonly decode: DecodeEvent;
  /** Where events begin without kept positions. */
  readonly from: 'earliest' | 'latest';
  readonly onUnreadable: (place: { readonly partition: number; readonly offset: number }, reason: string) => void;
}

/**
 * The alert log on Kafka. The state is the only partition of a compacted topic; the consumer group of that topic
 * decides whose it is, and a transactional producer fences whoever had it before. The positions in the events are part
 * of the state: what follows from an event and its position commit together.
 */
export function createKafkaAlertLog(options: KafkaAlertLogOptions): AlertLog {
  const { stateTopic, groupId, sessionMs, eventsTopic, decode, from, onUnreadable, ...connection } = options;
  const topics: Topics = {
    observations: stateTopic,
    scores: stateTopic,
    events: stateTopic,
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
      return stateSession(await log.openPartition(0, signal), stateTopic);
    },
    async readEvents(place, { onEvents, onConnection }) {
      const stopping = new AbortController();
      const { signal } = stopping;
      const read = (record: TopicRecord) => readEvent(record, { decode, onUnreadable, signal, onConnection });
      const tail = await tailTopic(
        connection,
        { topic: eventsTopic, from: place ?? from },
        {
          onRecords: async (records, after) => {
            const events: AnomalyEventRecord[] = [];
            for (const record of records) events.push(...(await read(record)));
            if (!signal.aborted) await onEvents(events, after);
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
    },
  };
}

interface Decoding extends Pick<KafkaAlertLogOptions, 'decode' | 'onUnreadable'> {
  readonly signal: AbortSignal;
  readonly onConnection: (error: Error | null) => void;
}

/**
 * The event of a record, or none. Waits for a schema registry that is away. Skips a record that is no event: another
 * program has written it.
 */
async function readEvent(
  { partition, offset, value }: TopicRecord,
  { decode, onUnreadable, signal, onConnection }: Decoding,
): Promise<readonly AnomalyEventRecord[]> {
  if (value === null) return [];
  for (let lost = false; !signal.aborted; lost = true) {
    try {
      const event = await decode(value);
      if (lost) onConnection(null);
      return [event];
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

function stateSession(session: PartitionSession, topic: string): AlertStateSession {
  return {
    load: (onEntry) => {
      return session.readChangelog((key, value) => onEntry(key.toString(), value === null ? null : value.toString()));
    },
    write: (changes) => {
      const outputs = [...changes].map(([key, json]): OutputRecord => {
        return { topic, partition: 0, key: Buffer.from(key), value: json === null ? null : Buffer.from(json) };
      });
      return session.commit(outputs, 0);
    },
    close: () => session.close(),
  };
}
