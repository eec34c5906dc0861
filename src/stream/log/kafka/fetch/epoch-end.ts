import { readInt64 } from '../batch/record-batch-decoder.ts';
import { type Cluster, errorFromCode } from '../cluster/kafkajs-internals.ts';
import { leaderOf } from '../cluster/leader.ts';

export interface EpochQuestion {
  readonly topic: string;
  readonly partition: number;
  /** Of the leader that is asked, as the metadata say. */
  readonly leaderEpoch: number;
  /** The epoch whose end is asked for. */
  readonly epoch: number;
}

/** Where the records of an epoch end in the log of the present leader; null where it does not know. */
export async function askLeader(cluster: Cluster, question: EpochQuestion): Promise<number | null> {
  const leader = await cluster.findBroker({ nodeId: leaderOf(cluster, question.topic, question.partition) });
  const body = encodeQuestion(question);
  const { end } = await leader.connectionPool.send<EpochEnd>({
    request: {
      apiKey: 23,
      apiVersion: 3,
      apiName: 'OffsetForLeaderEpoch',
      encode: () => Promise.resolve({ buf: body, buffer: body }),
    },
    response: { decode: async (payload) => decodeResponse(payload), parse: async (found) => found },
  });
  return end;
}

interface EpochEnd {
  readonly end: number | null;
  /** kafkajs delays requests by this field when the broker throttles. */
  readonly clientSideThrottleTime: number;
}

const CONSUMER = -1;

/**
 * OffsetForLeaderEpoch request, version 3 (Kafka 2.3 and later): replicaId i32 | [topic string | [partition i32 |
 * currentLeaderEpoch i32 | leaderEpoch i32]]
 */
function encodeQuestion({ topic, partition, leaderEpoch, epoch }: EpochQuestion): Buffer {
  const name = Buffer.from(topic);
  const body = Buffer.alloc(26 + name.length);
  let at = body.writeInt32BE(CONSUMER, 0);
  at = body.writeInt32BE(1, at);
  at = body.writeInt16BE(name.length, at);
  at += name.copy(body, at);
  for (const number of [1, partition, leaderEpoch, epoch]) at = body.writeInt32BE(number, at);
  return body;
}

/** throttleMs i32 | [topic string | [errorCode i16 | partition i32 | leaderEpoch i32 | endOffset i64]] */
function decodeResponse(payload: Buffer): EpochEnd {
  const clientSideThrottleTime = payload.readInt32BE(0);
  const at = 8 + 2 + payload.readInt16BE(8) + 4;
  const errorCode = payload.readInt16BE(at);
  if (errorCode !== 0) throw errorFromCode(errorCode);
  const end = readInt64(payload, at + 10);
  return { end: end < 0 ? null : end, clientSideThrottleTime };
}
